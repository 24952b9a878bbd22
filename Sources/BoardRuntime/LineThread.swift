import BoardIO
import LinuxIO
import Media
import Synchronization

/// A device on a GPIO line. Used only from its line's thread.
package protocol LineDevice: AnyObject {
    /// Whether the chip still responds.
    var isThere: Bool { get }
    /// Readable when `takeEdges` has edges; -1 for a device without input.
    var fileDescriptor: Int32 { get }
    var wasPressedAtFirst: Bool { get }
    func takeEdges() throws(BoardIOError) -> [GPIOButton.Edge]
    func set(isLit: Bool) throws(BoardIOError)
}

extension GPIOButton: LineDevice {
    package func set(isLit: Bool) throws(BoardIOError) {}
}

/// A lamp goes dark when the object goes away.
package protocol Lamp: LineDevice {}

extension Lamp {
    package var fileDescriptor: Int32 { -1 }
    package var wasPressedAtFirst: Bool { false }
    package func takeEdges() throws(BoardIOError) -> [GPIOButton.Edge] { [] }
}

extension GPIOLamp: Lamp {}
extension KernelLED: Lamp {}
extension FlashSubdevice: Lamp {}

/// Why a line of board.json cannot be used.
package enum LineFault: Hashable, Sendable, CustomStringConvertible {
    case line(BoardIOError)
    /// Its chip does not answer.
    case unanswered
    case noThread(SystemCallError)

    package var description: String {
        switch self {
        case .line(let error): "\(error)"
        case .unanswered: "its GPIO chip does not answer; check the chip's wiring and bus"
        case .noThread(let error): "\(error)"
        }
    }
}

/// A line from board.json. Its own thread opens, checks, switches and reads it, because each call to a chip behind a bus (an
/// I2C expander) may be slow or hang. Neither the button's reaction nor the other lights wait for it.
///
/// Used from the main thread, which gives orders and waits only as long as it chooses.
final class LineThread: Sendable {
    /// A button's state and events.
    struct News {
        /// Ordinal of this opening; its edges all belong to the same opened button.
        var opening = 0
        var wasPressedAtFirst = false
        var edges: [GPIOButton.Edge] = []
    }

    /// The main thread's orders.
    private struct Orders: Equatable {
        var checks = false
        var light: Bool?
        var ends = false
    }

    private struct State {
        var orders = Orders()
        var news = News()
        /// Why the line cannot be used; `nil` if it works.
        var fault: LineFault?
        var chips: [GPIOChip]?
        /// Since when an order has been waiting; `nil` if all are done.
        var busySince: MediaTimestamp?
    }

    /// The thread's own state.
    private struct Work {
        var device: (any LineDevice)?
        /// The light that was last set on the device.
        var light: Bool?
        var opening = 0
        var fault: LineFault?
        var chips: [GPIOChip]?
        var edges: [GPIOButton.Edge] = []
    }

    /// A slower chip counts as unresponsive.
    private static let patience = Duration.seconds(2)
    /// No person causes more edges than this. Further ones wait in the kernel or are lost there.
    private static let mostEdges = 256

    private let state = Mutex(State())
    private let wakeup: EventFD
    private let answers: EventFD
    private let newsArrived: EventFD
    private let open: @Sendable () throws(BoardIOError) -> any LineDevice
    private let findChips: @Sendable () -> [GPIOChip]

    /// - Parameters:
    ///   - open, findChips: called on the thread.
    init(
        _ name: String, opening open: @escaping @Sendable () throws(BoardIOError) -> any LineDevice,
        findChips: @escaping @Sendable () -> [GPIOChip]
    ) throws(SystemCallError) {
        self.open = open
        self.findChips = findChips
        wakeup = try EventFD()
        answers = try EventFD()
        newsArrived = try EventFD()
        // A hanging chip must not trigger the hardware watchdog, because it would hang again after the restart. The thread is
        // never joined, since it may hang as long as the chip does.
        _ = try NamedThread(name, mayBlock: true) { [self] in run() }
    }

    /// Readable when `takeNews` has something.
    var fileDescriptor: Int32 { newsArrived.fileDescriptor }

    func takeNews() -> News {
        newsArrived.drain()
        let news = state.withLock { state in
            defer { state.news.edges = [] }
            return state.news
        }
        // The thread stopped reading edges because too many were waiting; wake it.
        if news.edges.count >= Self.mostEdges { wakeup.signal() }
        return news
    }

    /// Why the line cannot be used; `nil` if it works.
    func fault(now: MediaTimestamp) -> LineFault? {
        state.withLock { state in
            guard let since = state.busySince, now - since > Self.patience else { return state.fault }
            return .unanswered
        }
    }

    /// The machine's chips when the line could not be opened; `nil` if it could, or if a chip does not answer.
    func chips(now: MediaTimestamp) -> [GPIOChip]? {
        state.withLock { state in
            state.busySince.map { now - $0 > Self.patience } ?? false ? nil : state.chips
        }
    }

    /// Opens the line if it is not open or has disappeared: a driver may be unbound or a bus fail, and return later.
    func check(now: MediaTimestamp) { order(now: now) { $0.checks = true } }

    /// Turns the lamp on or off, also once it is opened later. A slow chip may skip intermediate changes.
    func set(isLit: Bool, now: MediaTimestamp) { order(now: now) { $0.light = isLit } }

    /// Releases the line and ends the thread.
    func end(now: MediaTimestamp) { order(now: now) { $0.ends = true } }

    /// Waits until all orders are done, up to the timeout. Does not wait for a chip that has been unresponsive for longer.
    func wait(atMost timeout: Duration) {
        let deadline = MonotonicClock.now() + timeout
        while let since = state.withLock({ $0.busySince }), since + timeout > MonotonicClock.now() {
            var entries = [PollEntry(answers.fileDescriptor)]
            guard let count = try? poll(&entries, until: deadline), count > 0 else { return }
            answers.drain()
        }
    }

    private func order(now: MediaTimestamp, _ change: (inout Orders) -> Void) {
        state.withLock { state in
            change(&state.orders)
            state.busySince = state.busySince ?? now
        }
        wakeup.signal()
    }

    // MARK: The thread

    private enum Waited {
        case orders, edges
    }

    private func run() {
        var work = Work()
        while true {
            let hears = state.withLock { $0.news.edges.count < Self.mostEdges }
            var waits: PollSet<Waited> = [
                .orders: wakeup.fileDescriptor, .edges: hears ? work.device?.fileDescriptor ?? -1 : -1,
            ]
            guard (try? waits.wait()) != nil else { return }
            wakeup.drain()
            let orders = state.withLock { state in
                defer { state.orders.checks = false }
                return state.orders
            }
            perform(orders, &work)
            if waits.isReady(.edges) { listen(&work) }
            publish(&work, after: orders)
            if orders.ends { return }
        }
    }

    private func perform(_ orders: Orders, _ work: inout Work) {
        if orders.ends || orders.checks && work.device?.isThere != true { letGo(&work) }
        guard !orders.ends else { return }
        do throws(BoardIOError) {
            if orders.checks, work.device == nil {
                work.device = try open()
                work.opening += 1
                (work.fault, work.chips) = (nil, nil)
            }
            guard let device = work.device, let wanted = orders.light, wanted != work.light else { return }
            try device.set(isLit: wanted)
            work.light = wanted
        } catch {
            letGo(&work)
            work.fault = .line(error)
            work.chips = findChips()
        }
    }

    private func listen(_ work: inout Work) {
        do throws(BoardIOError) {
            work.edges += try work.device?.takeEdges() ?? []
        } catch {
            letGo(&work)
            work.fault = .line(error)
        }
    }

    private func letGo(_ work: inout Work) {
        work.device = nil
        work.light = nil
    }

    private func publish(_ work: inout Work, after orders: Orders) {
        let (opening, wasPressed) = (work.opening, work.device?.wasPressedAtFirst ?? false)
        let (edges, fault, chips) = (work.edges, work.fault, work.chips)
        work.edges = []
        let hasNews = state.withLock { state in
            let isNew = state.news.opening != opening
            if isNew { state.news = News(opening: opening, wasPressedAtFirst: wasPressed) }
            state.news.edges += edges
            (state.fault, state.chips) = (fault, chips)
            let isDone = orders.ends || state.orders == Orders(light: orders.light)
            state.busySince = isDone ? nil : MonotonicClock.now()
            return isNew || !edges.isEmpty
        }
        if hasNews { newsArrived.signal() }
        answers.signal()
    }
}
