// `record` of device.json.
extension DeviceDescription {
    mutating func readRecord(_ reader: inout DescriptionReader) {
        let times = Record.When.allCases.map(\.rawValue)
        let isShort = reader.shortForm("record", of: times, example: #""record": "live""#) {
            record.when = Record.When(rawValue: $0) ?? record.when
        }
        guard !isShort else { return }
        let example = #""record": {"when": "live", "folder": "auto", "keep": "newest"}"#
        let usual = Record()
        let given: Record? = reader.object("record", example: example) { reader in
            var given = usual
            let when = reader.choice("when", of: times, example: #""when": "live""#)
            given.when = when.flatMap(Record.When.init) ?? usual.when
            given.folder = reader.folder("folder")
            let length = reader.integer("fileSeconds", in: 10...3600, unit: "seconds", example: #""fileSeconds": 60"#)
            given.fileSeconds = length?.value ?? usual.fileSeconds
            let minutes = reader.integerOrChoice(
                "minutes", in: 1...1_000_000, of: ["unlimited"], example: #""minutes": 600"#)
            if case .integer(let count)? = minutes { given.minutes = count }
            let share = reader.integer("diskPercent", in: 1...95, unit: "percent", example: #""diskPercent": 80"#)
            given.diskPercent = share?.value ?? usual.diskPercent
            let keep = reader.choice("keep", of: Record.Keep.allCases.map(\.rawValue), example: #""keep": "all""#)
            given.keep = keep.flatMap(Record.Keep.init) ?? usual.keep
            return given
        }
        record = given ?? record
    }
}

extension DescriptionReader {
    /// A folder, by its path from the root.
    /// - Returns: `nil` for "auto", which is the default.
    mutating func folder(_ name: String) -> String? {
        let example = "\"\(name)\": \"auto\""
        guard let folder = self.name(name, example: example), folder != "auto" else { return nil }
        if !folder.hasPrefix("/") || folder.split(separator: "/").contains("..") {
            report(.invalidValue, name, "must be \"auto\" or a path from the root, without \"..\"", example: example)
        }
        return folder
    }
}
