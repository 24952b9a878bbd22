import ApplianceLogic
import JSONText
import Settings

// JSON of lists and examinations: one object per line, so that each can be read as soon as it is known.

extension DeviceList {
    /// For people.
    package var lines: [String] {
        (devices.isEmpty ? ["none found"] : devices.map(\.text)) + notes.map { "note: \($0)" }
    }

    package var jsonLines: [UInt8] {
        var writer = JSONLineWriter()
        var lines: [UInt8] = []
        for device in devices { lines += writer.line { device.write(to: $0) } }
        for note in notes { lines += writer.line { $0.write("note", note) } }
        return lines
    }

    /// The same objects in one array.
    package var jsonArray: [UInt8] {
        var writer = JSONLineWriter()
        return writer.arrayLine { array in
            for device in devices { array.writeObject { device.write(to: $0) } }
            for note in notes { array.writeObject { $0.write("note", note) } }
        }
    }
}

extension ListedDevice {
    fileprivate func write(to object: borrowing JSONObjectWriter) {
        object.write("name", name)
        object.write("label", label)
        object.write("inUse", isInUse)
    }
}

extension CheckupLine {
    public var jsonLine: [UInt8] {
        var writer = JSONLineWriter()
        return writer.line { object in
            object.write("step", step.rawValue)
            object.write("result", result.rawValue)
            object.write("text", text)
            if let advice { object.write("next", advice) }
        }
    }

    /// - Returns: `nil` if the line is something else.
    public init?(jsonLine: [UInt8]) {
        guard let json = try? JSONValue(parsing: jsonLine), let step = json.text("step").flatMap(CheckupStep.init),
            let result = json.text("result").flatMap(CheckupResult.init), let text = json.text("text")
        else { return nil }
        self.init(step, result, text, advice: json.text("next"))
    }
}

extension CheckupSummary {
    public var jsonLine: [UInt8] {
        var writer = JSONLineWriter()
        return writer.line { object in
            object.write("problems", problems.map(\.rawValue))
            object.write("warnings", warnings.map(\.rawValue))
            object.write("notChecked", unchecked.map(\.rawValue))
        }
    }

    /// - Returns: `nil` if the line is something else.
    public init?(jsonLine: [UInt8]) {
        guard let json = try? JSONValue(parsing: jsonLine), let problems = json.steps("problems"),
            let warnings = json.steps("warnings"), let unchecked = json.steps("notChecked")
        else { return nil }
        self.init(problems: problems, warnings: warnings, unchecked: unchecked)
    }
}

extension JSONValue {
    fileprivate var text: String? { if case .string(let text) = content { text } else { nil } }

    fileprivate func text(_ name: String) -> String? { self[name]?.text }

    fileprivate func steps(_ name: String) -> [CheckupStep]? {
        guard case .array(let elements)? = self[name]?.content else { return nil }
        return elements.compactMap { $0.text.flatMap(CheckupStep.init) }
    }
}
