import Controls
import Media
import StreamLogic

/// A command that was taken and is not done yet.
struct PendingCommand {
    enum Purpose {
        /// The answer is all.
        case answer
        /// - Parameters:
        ///   - device: waits for the stream's answer, since a line takes effect as a whole or not at all.
        ///   - former: what a computer had set before.
        case changes(device: DeviceChanges, former: [ControlChange])
        /// If the stream ends before it answers, the next one takes it over.
        case pause(Bool)
        case snapshot(PendingSnapshot)
        /// The computer's dialogue wants to know what the camera has.
        case webcamLook
        /// The webcam's gadget is being taken down.
        case webcamStop

        /// Nothing depends on the command once its asker has stopped waiting.
        fileprivate var isOver: Bool {
            switch self {
            case .answer, .webcamLook, .webcamStop: true
            case .changes, .pause, .snapshot: false
            }
        }
    }

    let id: CommandID
    fileprivate(set) var purpose: Purpose
    /// `nil` when nobody waits for an answer, or nobody waits any longer.
    fileprivate(set) var asker: CommandAsker?
    /// Its asker was answered already, and looks for the result in the events.
    let watchesEvents: Bool
    /// How long its asker waits.
    fileprivate let deadline: MediaTimestamp

    fileprivate var isAwaited: Bool { asker != nil && !watchesEvents }
}

/// All commands that are not done yet, in the order in which they came.
struct PendingCommands {
    static let limit = 64
    /// A lens takes seconds to find its place, and a camera to open for a snapshot. Nothing takes longer to answer.
    static let patience = Duration.seconds(9)

    private var commands: [PendingCommand] = []
    private var lastNumber: UInt64 = 0

    /// - Parameter watchesEvents: its asker was answered already, and looks for the result in the events.
    /// - Returns: the command's number; `nil` when too many are pending.
    mutating func add(
        _ purpose: PendingCommand.Purpose, for asker: CommandAsker?, watchesEvents: Bool = false, now: MediaTimestamp
    ) -> CommandID? {
        guard commands.count < Self.limit else { return nil }
        lastNumber += 1
        let id = CommandID(lastNumber)
        commands.append(
            PendingCommand(
                id: id, purpose: purpose, asker: asker, watchesEvents: watchesEvents,
                deadline: now + Self.patience))
        return id
    }

    var count: Int { commands.count }

    func count(where matches: (PendingCommand.Purpose) -> Bool) -> Int { commands.count { matches($0.purpose) } }

    subscript(_ id: CommandID) -> PendingCommand? { commands.first { $0.id == id } }

    /// The command goes on with another purpose.
    mutating func change(_ id: CommandID, to purpose: PendingCommand.Purpose) {
        guard let index = commands.firstIndex(where: { $0.id == id }) else { return }
        commands[index].purpose = purpose
    }

    /// The command is done.
    /// - Returns: `nil` when it is not pending: it is unknown, or was done before.
    mutating func remove(_ id: CommandID) -> PendingCommand? {
        guard let index = commands.firstIndex(where: { $0.id == id }) else { return nil }
        return commands.remove(at: index)
    }

    mutating func removeAll(where matches: (PendingCommand.Purpose) -> Bool) -> [PendingCommand] {
        defer { commands.removeAll { matches($0.purpose) } }
        return commands.filter { matches($0.purpose) }
    }

    /// When an asker has waited for long enough.
    var nextDeadline: MediaTimestamp? { commands.filter(\.isAwaited).map(\.deadline).min() }

    /// - Returns: those who are to wait no longer. What else depends on their commands stays pending.
    mutating func timeReached(now: MediaTimestamp) -> [CommandAsker] {
        var askers: [CommandAsker] = []
        for index in commands.indices where commands[index].deadline <= now {
            guard commands[index].isAwaited, let asker = commands[index].asker else { continue }
            askers.append(asker)
            commands[index].asker = nil
        }
        commands.removeAll { $0.deadline <= now && $0.purpose.isOver }
        return askers
    }
}
