import Media
import Testing

@testable import LinuxIO

@Suite struct PollSetTests {
    private enum Name: Hashable {
        case first, second, several
    }

    @Test func onlyTheSignaledNameIsReady() throws {
        let (first, second) = (try EventFD(), try EventFD())
        second.signal()
        var waits: PollSet<Name> = [.first: first.fileDescriptor, .second: second.fileDescriptor]
        #expect(try waits.wait())
        #expect(!waits.isReady(.first) && waits.ready(.second) == .readable)
        #expect(!waits.isReady(.several), "it was not waited for")
    }

    @Test func nameIsReadyWithAnyOfItsDescriptors() throws {
        let events = [try EventFD(), try EventFD(), try EventFD()]
        events[1].signal()
        var waits = PollSet<Name>()
        waits.add(.first, -1)
        waits.add(.several, events.map { PollEntry($0.fileDescriptor) })
        #expect(try waits.wait())
        #expect(waits.isReady(.several) && !waits.isReady(.first))
    }

    @Test func firstDeadlineEndsTheWait() throws {
        let event = try EventFD()
        let start = MonotonicClock.now()
        var waits = PollSet<Name>()
        waits.add(.first, event.fileDescriptor)
        waits.wake(at: start + .seconds(3600))
        waits.wake(at: nil)
        waits.wake(at: start + .milliseconds(1))
        #expect(try !waits.wait(until: start + .seconds(7200)))
        #expect(!waits.isReady(.first) && MonotonicClock.now() >= start + .milliseconds(1))
    }

    @Test func emptiedSetForgetsDescriptorsAndDeadlines() throws {
        let (first, second) = (try EventFD(), try EventFD())
        first.signal()
        var waits: PollSet<Name> = [.first: first.fileDescriptor]
        waits.wake(at: .zero)
        #expect(try waits.wait())
        waits.removeAll()
        let limit = MonotonicClock.now() + .milliseconds(2)
        waits.add(.second, second.fileDescriptor)
        #expect(try !waits.wait(until: limit) && MonotonicClock.now() >= limit)
        #expect(!waits.isReady(.second) && !waits.isReady(.first))
    }

    @Test func updatedNameWaitsForItsNewDescriptor() throws {
        let (first, second) = (try EventFD(), try EventFD())
        first.signal()
        var waits: PollSet<Name> = [.first: first.fileDescriptor, .second: -1]
        waits.update(.first, -1)
        waits.update(.second, second.fileDescriptor, for: .writable)
        #expect(try waits.wait() && !waits.isReady(.first) && waits.ready(.second) == .writable)
    }

    @Test func additionalDeadlineAppliesToOneWait() throws {
        let event = try EventFD()
        var waits: PollSet<Name> = [.first: event.fileDescriptor]
        #expect(try !waits.wait(until: .zero))
        let limit = MonotonicClock.now() + .milliseconds(2)
        #expect(try !waits.wait(until: limit) && MonotonicClock.now() >= limit)
    }

    @Test func onlyTheRequestedEventsAreReported() throws {
        let event = try EventFD()
        var waits = PollSet<Name>()
        waits.add(.first, event.fileDescriptor, for: [.readable, .writable])
        #expect(try waits.wait())
        #expect(waits.ready(.first) == .writable)
    }
}
