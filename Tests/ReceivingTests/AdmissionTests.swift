import Media
import Testing

@testable import Receiving

@Suite struct AdmissionTests {
    private let start = MediaTimestamp(milliseconds: 5000)
    private var admission = Admission()

    @Test func connectionsAreAcceptedUpToTheLimit() {
        let limit = Admission.mostConnections
        #expect(admission.isOpen(connectionCount: limit - 1, now: start))
        #expect(!admission.isOpen(connectionCount: limit, now: start))
        #expect(admission.nextTime(connectionCount: limit, now: start) == nil, "only a connection's end opens it")
    }

    @Test mutating func failurePausesForASecond() {
        _ = admission.stopped(by: .failure, now: start)
        #expect(!admission.isOpen(connectionCount: 0, now: start + .milliseconds(999)))
        #expect(admission.nextTime(connectionCount: 0, now: start) == start + .seconds(1))
        #expect(admission.isOpen(connectionCount: 0, now: start + .seconds(1)))
        #expect(admission.nextTime(connectionCount: 0, now: start + .seconds(1)) == nil)
    }

    @Test mutating func endOfAConnectionEndsThePause() {
        _ = admission.stopped(by: .failure, now: start)
        admission.connectionEnded()
        #expect(admission.isOpen(connectionCount: 0, now: start))
    }

    @Test mutating func eachObstacleIsReportedOnceUntilNoConnectionWaits() {
        #expect(stops([.failure, .failure, .tooManyConnections, .tooManyConnections]) == [true, false, true, false])
        admission.lastWaitingAccepted()
        #expect(stops([.failure, .tooManyConnections]) == [true, true])
    }

    /// - Returns: for each one, whether to report it.
    private mutating func stops(_ obstacles: [Admission.Obstacle]) -> [Bool] {
        var isReported: [Bool] = []
        for obstacle in obstacles { isReported.append(admission.stopped(by: obstacle, now: start)) }
        return isReported
    }
}
