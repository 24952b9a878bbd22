import Controls
import Media
import StreamQuality

/// What one line of `set`, or one transaction, asks for: all of it, at one frame, or nothing.
public struct RequestedChanges: Hashable, Sendable {
    public var configuration: [LiveConfiguration.Change] = []
    public var controls: [ControlChange] = []

    public init(configuration: [LiveConfiguration.Change] = [], controls: [ControlChange] = []) {
        self.configuration = configuration
        self.controls = controls
    }

    /// All names that `set` takes.
    public static let names = LiveConfiguration.Setting.allCases.map(\.rawValue) + ControlName.allCases.map(\.rawValue)

    /// - Parameter words: names and values by turns.
    public init(parsing words: some Sequence<String>) throws(ChangeError) {
        var iterator = words.makeIterator()
        while let name = iterator.next() { try add(name, iterator.next() ?? "") }
    }

    private mutating func add(_ name: String, _ value: String) throws(ChangeError) {
        guard Self.names.contains(name.lowercased()) else { throw .unknownName(name) }
        do throws(ControlError) {
            if let control = try ControlChange(name, value) { return controls.append(control) }
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

    /// Each as `set` would be given it.
    public var descriptions: [String] { configuration.map(\.description) + controls.map(\.description) }
}

/// Why nothing is changed.
public enum ChangeError: Error, Hashable, Sendable {
    case unknownName(String)
    case quality(QualityError)
    case control(ControlError)
}

extension ChangeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownName(let name):
            "\(quoted(name.prefix(60))) cannot be set; "
                + (NameSuggestion.nearest(to: name, among: RequestedChanges.names).map { "did you mean \($0)? " } ?? "")
                + "there are \(RequestedChanges.names.joined(separator: ", "))"
        case .quality(let error): error.description
        case .control(let error): error.description
        }
    }
}
