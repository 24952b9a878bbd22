import Media
import Settings

/// Which of its cameras a stream is to go on with.
public enum CameraChoice: Hashable, Sendable {
    case named(String)
    /// The one behind the last one wished for, whether that came or not, and behind the last the first.
    case next

    /// - Parameter word: as commands take it.
    public init(_ word: String) { self = word == "next" ? .next : .named(word) }
}

/// The names of a stream's cameras: which one is on, and which one was asked for last.
public struct CameraSelection: Hashable, Sendable {
    /// In the order of `next`; empty where there is one source without a name.
    public let names: [String]
    /// The camera whose frames are encoded; `nil` where there are no names.
    public private(set) var current: String?
    /// As `current`, unless a switch is under way.
    private var wanted: String?
    /// Where `next` goes on: else nobody would get past a camera that does not come.
    private var lastWish: String?

    public enum Answer: Hashable, Sendable {
        case select(String)
        /// It is on already, or on its way.
        case nothing(String)
        case refuse(String)
    }

    /// - Parameter names: the first one is on.
    public init(_ names: [String]) {
        self.names = names
        current = names.first
        wanted = names.first
        lastWish = names.first
    }

    public mutating func choose(_ choice: CameraChoice) -> Answer {
        guard let wanted, names.count > 1 else {
            return .refuse("this stream has one camera; --camera or cameras of device.json name several")
        }
        let name: String
        switch choice {
        case .named(let asked):
            if let problem = Self.problem(with: asked, among: names) { return .refuse(problem) }
            name = asked
        case .next:
            let behind = self.name(behind: lastWish ?? wanted)
            name = behind == wanted ? self.name(behind: behind) : behind
        }
        lastWish = name
        guard name != wanted else { return .nothing(name) }
        self.wanted = name
        return .select(name)
    }

    private func name(behind name: String) -> String {
        names[((names.firstIndex(of: name) ?? 0) + 1) % names.count]
    }

    /// - Returns: why no camera has this name, with the one that may be meant; `nil` when one has.
    public static func problem(with name: String, among names: [String]) -> String? {
        guard !names.contains(name) else { return nil }
        let meant = NameSuggestion.question(for: name, among: names) ?? ""
        return "there is no camera \(quoted(name.prefix(60)))\(meant); there are \(names.joined(separator: ", "))"
    }

    /// Its first frame was encoded.
    /// - Returns: the camera that was on before.
    public mutating func switched(to name: String) -> String? {
        defer { current = name }
        return current
    }

    /// It does not come, and the one that is on stays, unless still another one was asked for meanwhile.
    public mutating func failed(_ name: String) { if wanted == name { wanted = current } }
}
