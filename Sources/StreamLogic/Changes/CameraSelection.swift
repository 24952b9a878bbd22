import Media
import Settings

/// The camera that a stream should switch to.
public enum CameraChoice: Hashable, Sendable {
    case named(String)
    /// The camera after the last one requested, whether or not that switch succeeded. Wraps around.
    case next

    /// - Parameter word: a camera's name or "next", as in commands.
    public init(_ word: String) { self = word == "next" ? .next : .named(word) }
}

/// The names of a stream's cameras, the current one and the one requested last.
public struct CameraSelection: Hashable, Sendable {
    /// In the order of `next`; empty if there is one source without a name.
    public let names: [String]
    /// The camera whose frames are encoded; `nil` if cameras have no names.
    public private(set) var current: String?
    /// The target of the switch under way, otherwise the same as `current`.
    private var wanted: String?
    /// Where `next` continues. Without it, `next` would never get past a camera that does not open.
    private var lastWish: String?

    public enum Answer: Hashable, Sendable {
        case select(String)
        /// Already current, or already being switched to.
        case nothing(String)
        case refuse(CommandRefusal)
    }

    /// - Parameter names: the first one is current.
    public init(_ names: [String]) {
        self.names = names
        current = names.first
        wanted = names.first
        lastWish = names.first
    }

    public mutating func choose(_ choice: CameraChoice) -> Answer {
        guard let wanted, names.count > 1 else { return .refuse(.singleCamera) }
        let name: String
        switch choice {
        case .named(let asked):
            guard names.contains(asked) else { return .refuse(.unknownCamera(asked, available: names)) }
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

    /// The camera's first frame was encoded.
    /// - Returns: the previous camera.
    public mutating func switched(to name: String) -> String? {
        defer { current = name }
        return current
    }

    /// The switch failed. The current camera stays on, unless yet another one has been requested meanwhile.
    public mutating func failed(_ name: String) { if wanted == name { wanted = current } }
}
