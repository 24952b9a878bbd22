import Controls
import Media
import StreamLogic
import Testing

@testable import ApplianceRuntime
@testable import CommandChannels

@Suite struct PendingCommandsTests {
    private let start = MediaTimestamp.zero
    private let noChanges: DeviceChanges = {
        var changes = RequestedChanges()
        return DeviceChanges(takenFrom: &changes, hasMute: false)
    }()

    private var asker: CommandAsker { CommandAsker(on: .socket) { _, _ in } }

    @Test func commandIsDoneOnlyOnce() throws {
        var pending = PendingCommands()
        let added = pending.add(.answer, for: asker, now: start)
        let id = try #require(added)
        #expect(pending.remove(id)?.id == id)
        #expect(pending.remove(id) == nil && pending.count == 0)
    }

    @Test func unknownCommandIsNotPending() {
        var pending = PendingCommands()
        _ = pending.add(.answer, for: asker, now: start)
        #expect(pending.remove(CommandID(77)) == nil && pending[CommandID(77)] == nil)
        pending.change(CommandID(77), to: .pause(true))
        #expect(pending.count { if case .pause = $0 { true } else { false } } == 0)
        #expect(pending.count == 1)
    }

    @Test func fullTableRefusesMore() throws {
        var pending = PendingCommands()
        let ids = (0..<PendingCommands.limit).compactMap { _ in pending.add(.answer, for: asker, now: start) }
        #expect(Set(ids).count == PendingCommands.limit)
        #expect(pending.add(.answer, for: asker, now: start) == nil)
        #expect(pending.remove(ids[3]) != nil)
        let added = pending.add(.answer, for: asker, now: start)
        let next = try #require(added)
        #expect(!ids.contains(next), "a number is used once")
    }

    @Test func askerStopsWaitingAtTheDeadline() throws {
        var pending = PendingCommands()
        let added = pending.add(.answer, for: asker, now: start)
        let id = try #require(added)
        let deadline = start + PendingCommands.patience
        #expect(pending.nextDeadline == deadline)
        #expect(pending.timeReached(now: deadline - .nanoseconds(1)).isEmpty)
        #expect(pending.timeReached(now: deadline).count == 1)
        #expect(pending.timeReached(now: deadline).isEmpty, "an asker is answered once")
        #expect(pending[id] == nil && pending.nextDeadline == nil)
    }

    @Test func deviceChangesOutliveTheirAsker() throws {
        var pending = PendingCommands()
        let added = pending.add(.changes(device: noChanges, former: []), for: asker, now: start)
        let id = try #require(added)
        #expect(pending.timeReached(now: start + PendingCommands.patience).count == 1)
        let command = try #require(pending[id])
        #expect(command.asker == nil && pending.nextDeadline == nil)
    }

    @Test func askerThatWatchesEventsHasNoDeadline() throws {
        var pending = PendingCommands()
        let changes = PendingCommand.Purpose.changes(device: noChanges, former: [])
        let added = pending.add(changes, for: asker, watchesEvents: true, now: start)
        let id = try #require(added)
        #expect(pending.nextDeadline == nil)
        #expect(pending.timeReached(now: start + .seconds(3600)).isEmpty)
        #expect(pending[id]?.asker != nil)
    }

    @Test func commandsOfOnePurposeAreRemovedInOrder() {
        var pending = PendingCommands()
        let pauses = [true, false].compactMap { pending.add(.pause($0), for: nil, now: start) }
        _ = pending.add(.webcamStop, for: asker, now: start)
        let removed = pending.removeAll { if case .pause = $0 { true } else { false } }
        #expect(removed.map(\.id) == pauses && pending.count == 1)
    }
}
