// `snapshots` of device.json.
extension DeviceDescription {
    mutating func readSnapshots(_ reader: inout DescriptionReader) {
        let example = #""snapshots": {"count": 20, "megabytes": 8, "quality": 90}"#
        let usual = Snapshots()
        let given: Snapshots? = reader.object("snapshots", example: example) { reader in
            var given = usual
            given.folder = reader.folder("folder")
            let (count, megabytes, quality) = (
                reader.integer("count", in: 1...10_000, example: #""count": 20"#),
                reader.integer("megabytes", in: 1...100_000, unit: "MB", example: #""megabytes": 8"#),
                reader.integer("quality", in: 1...100, example: #""quality": 90"#)
            )
            let flash = reader.choice("flash", of: Flash.allCases.map(\.rawValue), example: #""flash": "auto""#)
            let size = reader.choice("size", of: StillSize.allCases.map(\.rawValue), example: #""size": "stream""#)
            given.size = size.flatMap(StillSize.init) ?? usual.size
            given.flash = flash.flatMap(Flash.init) ?? usual.flash
            given.count = count?.value ?? usual.count
            given.megabytes = megabytes?.value ?? usual.megabytes
            given.quality = quality?.value ?? usual.quality
            return given
        }
        snapshots = given ?? snapshots
    }
}
