import Controls
import Media
import StreamLogic

/// A command that was accepted but is not done yet.
package struct PendingCommand {
    package enum Purpose {
        /// Only the answer is pending.
        case answer
        /// - Parameters:
        ///   - device: changes that wait for the stream's answer, because a line takes effect completely or not at all.
        ///   - former: the computer's earlier values.
        case changes(device: DeviceChanges, former: [ControlChange])
        /// If the stream ends before it answers, the next one takes over the command.
        case pause(Bool)
        case snapshot(PendingSnapshot)
        /// The computer's dialog needs the camera's controls.
        case webcamLook
        /// The webcam's gadget is being removed.
        case webcamStop
        /// A disk is being unmounted.
        case eject

        /// Whether nothing depends on the command once its asker has stopped waiting.
        fileprivate var isOver: Bool {
            switch self {
            case .answer, .webcamLook, .webcamStop, .eject: true
            case .changes, .pause, .snapshot: false
            }
        }
    }

    package let id: CommandID
    package fileprivate(set) var purpose: Purpose
    /// `nil` if nobody waits for an answer.
    package fileprivate(set) var asker: CommandAsker?
    /// Whether the asker was already answered and watches the events for the result.
    package let watchesEvents: Bool
    /// How long the asker waits.
    fileprivate let deadline: MediaTimestamp

    fileprivate var isAwaited: Bool { asker != nil && !watchesEvents }
}

/// All pending commands, in the order of their arrival.
package struct PendingCommands {
    package static let limit = 64
    /// A lens takes seconds to focus, and a camera to open for a snapshot. No answer takes longer.
    package static let patience = Duration.seconds(9)

    private var commands: [PendingCommand] = []
    private var lastNumber: UInt64 = 0

    package init() {}

    /// - Parameter watchesEvents: whether the asker was already answered and watches the events for the result.
    /// - Returns: the command's number; `nil` if too many are pending.
    package mutating func add(
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

    package var count: Int { commands.count }

    package func count(where matches: (PendingCommand.Purpose) -> Bool) -> Int {
        commands.count { matches($0.purpose) }
    }

    package subscript(_ id: CommandID) -> PendingCommand? { commands.first { $0.id == id } }

    /// Changes the purpose of a pending command.
    package mutating func change(_ id: CommandID, to purpose: PendingCommand.Purpose) {
        guard let index = commands.firstIndex(where: { $0.id == id }) else { return }
        commands[index].purpose = purpose
    }

    /// Removes a command that is done.
    /// - Returns: `nil` if it is not pending: it is unknown or was done before.
    package mutating func remove(_ id: CommandID) -> PendingCommand? {
        guard let index = commands.firstIndex(where: { $0.id == id }) else { return nil }
        return commands.remove(at: index)
    }

    package mutating func removeAll(where matches: (PendingCommand.Purpose) -> Bool) -> [PendingCommand] {
        defer { commands.removeAll { matches($0.purpose) } }
        return commands.filter { matches($0.purpose) }
    }

    /// When the next asker has waited long enough.
    package var nextDeadline: MediaTimestamp? { commands.filter(\.isAwaited).map(\.deadline).min() }

    /// - Returns: the askers whose wait is over. Other effects of their commands stay pending.
    package mutating func timeReached(now: MediaTimestamp) -> [CommandAsker] {
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
