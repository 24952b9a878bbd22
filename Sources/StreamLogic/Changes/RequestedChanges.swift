import Controls
import Media
import StreamQuality

/// The changes of one `set` line or one transaction. Either all of them apply at one frame, or none.
public struct RequestedChanges: Hashable, Sendable {
    public var configuration: [LiveConfiguration.Change] = []
    public var controls: [ControlChange] = []

    public init(configuration: [LiveConfiguration.Change] = [], controls: [ControlChange] = []) {
        self.configuration = configuration
        self.controls = controls
    }

    /// All names that `set` takes.
    public static let names =
        LiveConfiguration.Setting.allCases.map(\.rawValue)
        + ControlName.allCases.filter { $0 != .mute }.map(\.rawValue)

    /// The names for people, in lines of at most 64 characters.
    public static let nameLines: [String] = {
        var lines: [String] = []
        for (index, name) in names.enumerated() {
            let word = index < names.count - 1 ? "\(name)," : name
            if let last = lines.last, last.utf8.count + word.utf8.count < 64 {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(word)
            }
        }
        return lines
    }()

    /// - Parameter words: alternating names and values.
    public init(parsing words: some Sequence<String>) throws(ChangeError) {
        var iterator = words.makeIterator()
        var targets: Set<String> = []
        while let name = iterator.next() {
            guard let value = iterator.next() else {
                throw Self.names.contains(name.lowercased()) ? .missingValue(name) : .unknownName(name)
            }
            // Controls of microphones can be repeated, once for each microphone.
            let number = value.firstIndex(of: ":").map { value[..<$0] } ?? ""
            guard targets.insert("\(name.lowercased()) \(number)").inserted else { throw .repeated(name) }
            try add(name, value)
        }
    }

    private mutating func add(_ name: String, _ value: String) throws(ChangeError) {
        guard Self.names.contains(name.lowercased()) else { throw .unknownName(name) }
        do throws(ControlError) {
            // Muting all audio is a setting of the stream; muting one microphone is a control.
            if let control = try ControlChange(name, value), !control.isOfAllAudio { return controls.append(control) }
        } catch {
            throw .control(error)
        }
        do throws(QualityError) {
            configuration.append(try LiveConfiguration.Change(name, value))
        } catch {
            throw .quality(error)
        }
    }

    public static func + (first: RequestedChanges, second: RequestedChanges) -> RequestedChanges {
        RequestedChanges(
            configuration: first.configuration + second.configuration, controls: first.controls + second.controls)
    }

    public var count: Int { configuration.count + controls.count }

    /// Removes a control that the stream does not handle, such as the torch or the webcam.
    /// - Returns: its requested value; `nil` if it was not among the changes.
    public mutating func take(_ name: ControlName) -> ControlValue? {
        defer { controls.removeAll { $0.name == name } }
        return controls.last { $0.name == name }?.value
    }

    /// Like `take`, for muting all audio.
    public mutating func takeMute() -> Bool? {
        var isMuted: Bool?
        configuration.removeAll { change in
            guard case .mute(let flag) = change else { return false }
            isMuted = flag
            return true
        }
        return isMuted
    }

    /// Each change, as `set` takes it.
    public var descriptions: [String] { configuration.map(\.description) + controls.map(\.description) }
}

extension ControlChange {
    fileprivate var isOfAllAudio: Bool {
        guard case (.mute, .flag) = (name, value) else { return false }
        return true
    }
}

/// Why none of the changes were applied.
public enum ChangeError: Error, Hashable, Sendable {
    case unknownName(String)
    case missingValue(String)
    /// Given twice in one line.
    case repeated(String)
    case quality(QualityError)
    case control(ControlError)
}

extension ChangeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownName(let name):
            "\(quoted(name.prefix(60))) is not a setting or control; "
                + (NameSuggestion.nearest(to: name, among: RequestedChanges.names).map { "did you mean \($0)? " } ?? "")
                + "available: \(RequestedChanges.names.joined(separator: ", "))"
        case .missingValue(let name):
            "\(name) needs a value"
                + (ControlName(rawValue: name.lowercased()).map { ": \(ControlDescription.of($0).form)" } ?? "")
        case .repeated(let name): "\(quoted(name.prefix(60))) is given more than once"
        case .quality(let error): error.description
        case .control(let error): error.description
        }
    }
}
