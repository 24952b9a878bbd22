import Controls
import DevicePorts
import Media
import Synchronization
import USBVideo

@testable import ApplianceRuntime
@testable import BoardRuntime
@testable import DeviceStreams

/// Webcams whose computer does what the test wants.
final class ScriptedWebcams: Sendable {
    /// One gadget, from its creation to its end.
    final class Gadget: WebcamSink {
        struct Content {
            var frames = 0
            var samples: [Int16] = []
            var allowances = 0
            var statuses: [[ControlStatus]] = []
        }

        let request: WebcamRequest
        let content = Mutex(Content())
        private let send: @Sendable (WebcamReport) -> Void
        private let isEndingAtOnce: @Sendable () -> Bool
        private let ended: @Sendable () -> Void

        fileprivate init(
            _ request: WebcamRequest, _ send: @escaping @Sendable (WebcamReport) -> Void,
            isEndingAtOnce: @escaping @Sendable () -> Bool, ended: @escaping @Sendable () -> Void
        ) {
            self.request = request
            self.send = send
            self.isEndingAtOnce = isEndingAtOnce
            self.ended = ended
        }

        deinit { ended() }

        var wantsFrames: Bool { true }
        var wantsAudio: Bool { true }
        func end() { if isEndingAtOnce() { send(.ended) } }
        func offer(_ frame: CapturedFrame, colors: VideoColors?) { content.withLock { $0.frames += 1 } }
        func framesEnded() {}
        func offer(_ block: AudioBlock, format: AudioFormat) { content.withLock { $0.samples = block.samples } }
        func controlsChanged(_ statuses: [ControlStatus]) { content.withLock { $0.statuses.append(statuses) } }
        func allow() { content.withLock { $0.allowances += 1 } }
        var statistics: WebcamStatistics { WebcamStatistics() }
    }

    struct Content {
        /// Existing gadgets, newest last. Only their owner keeps them alive.
        var reports: [@Sendable (WebcamReport) -> Void] = []
        var requests: [WebcamRequest] = []
        var ended = 0
        var formerRemoved = 0
        /// The kernel removes a gadget only when the test reports its end.
        var isSlowToEnd = false
        /// Why a gadget cannot be created.
        var failure: String?
        /// How often that has happened.
        var failures = 0
        /// Why there can be none, known without trying.
        var absence: String?
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let content = Mutex(Content())
    private let newest = Mutex<WeakGadget>(WeakGadget())

    struct WeakGadget { weak var gadget: Gadget? }

    /// The newest one, while it exists.
    var gadget: Gadget? { newest.withLock { $0.gadget } }
    var openings: Int { content.withLock { $0.requests.count } }
    var ended: Int { content.withLock { $0.ended } }

    func open(_ request: WebcamRequest, _ report: @escaping @Sendable (WebcamReport) -> Void) throws -> Gadget {
        let failure = content.withLock { content in
            content.failures += content.failure == nil ? 0 : 1
            return content.failure
        }
        if let failure { throw Failure(description: failure) }
        let gadget = Gadget(request, report) { [self] in
            !content.withLock { $0.isSlowToEnd }
        } ended: { [self] in
            content.withLock { $0.ended += 1 }
        }
        // Before the request, because that is what tests wait for.
        newest.withLock { $0.gadget = gadget }
        content.withLock { content in
            content.requests.append(request)
            content.reports.append(report)
        }
        return gadget
    }

    var absence: String? { content.withLock { $0.absence } }
    func removeFormer() { content.withLock { $0.formerRemoved += 1 } }

    /// Reports from the newest gadget's computer.
    func report(_ reports: WebcamReport...) {
        let send = content.withLock { $0.reports.last }
        for report in reports { send?(report) }
    }
}
