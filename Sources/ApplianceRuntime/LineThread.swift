import BoardIO
import LinuxIO
import Media
import Synchronization

/// What is on a GPIO line.
protocol LineDevice: Sendable {
    /// Whether the chip still answers for it.
    var isThere: Bool { get }
}

/// What can be lit. Dark when it goes out of scope.
protocol LampDevice: LineDevice {
    func set(isLit: Bool) throws(GPIOError)
}

extension GPIOButton: LineDevice {}
extension GPIOLamp: LampDevice {}

/// A line of board.json, opened, looked after and switched by a thread of its own: each call to a chip that sits behind
/// a bus (an I2C expander) may take its time, or hang, and neither the button's answer nor the other lights wait for it.
///
/// Used from the main thread, which gives orders and never waits longer than it says.
final class LineThread<Device: LineDevice>: Sendable {
    /// A chip that takes longer does not answer.
    private static var patience: Duration { .seconds(2) }

    /// What the main thread wants.
    private struct Orders: Equatable {
        var checks = false
        /// What was opened is of no use any more.
        var isLost = false
        var light: Bool?
        var ends = false
    }

    private struct State {
        var orders = Orders()
        /// `nil` while it is not open.
        var device: Device?
        /// How often it was opened.
        var openings = 0
        var fault: String?
        /// How long there has been something to do that is not done; `nil` when all is.
        var busySince: MediaTimestamp?
    }

    /// What the thread has in hand.
    private struct Work {
        var device: Device?
        var openings = 0
        /// What the device was told last.
        var light: Bool?
        var fault: String?
    }

    private let state = Mutex(State())
    private let wakeup: EventFD
    private let answers: EventFD
    private let open: @Sendable () throws(GPIOError) -> Device
    private let light: @Sendable (Device, Bool) throws(GPIOError) -> Void

    /// - Parameters:
    ///   - open: called on the thread, as is `light`.
    ///   - light: makes it light or dark.
    private init(
        _ name: String, opening open: @escaping @Sendable () throws(GPIOError) -> Device,
        light: @escaping @Sendable (Device, Bool) throws(GPIOError) -> Void
    ) throws(SystemCallError) {
        self.open = open
        self.light = light
        wakeup = try EventFD()
        answers = try EventFD()
        // The hardware watchdog does not bite for a chip that hangs: after the restart it would hang again. The thread is
        // never joined, for it may hang as long as the chip does.
        _ = try NamedThread(name, mayBlock: true) { [self] in run() }
    }

    /// What is there, and the how manieth that was opened; `nil` while none is. Not to be kept: the line is to be free
    /// when the thread lets go of it.
    var opened: (device: Device, number: Int)? {
        state.withLock { state in state.device.map { ($0, state.openings) } }
    }

    /// Why it cannot be used; `nil` when nothing is wrong with it.
    func fault(now: MediaTimestamp) -> String? {
        state.withLock { state in
            if let since = state.busySince, now - since > Self.patience {
                return "its GPIO chip does not answer; look at the chip's wiring and bus"
            }
            return state.fault
        }
    }

    /// Opens it if it is not open or has gone: a driver may be unbound, a bus fail, and come back.
    func check(now: MediaTimestamp) { order(now: now) { $0.checks = true } }

    /// Lit or dark from now on, also when it is opened later. What a slow chip has no time for in between is left out.
    func set(isLit: Bool, now: MediaTimestamp) { order(now: now) { $0.light = isLit } }

    /// Somebody else has found it gone; the next check opens it anew.
    func lost(_ fault: String) {
        state.withLock { state in
            state.device = nil
            state.fault = fault
            state.orders.isLost = true
        }
    }

    /// Lets go of the line, and the thread end.
    func end(now: MediaTimestamp) { order(now: now) { $0.ends = true } }

    /// Waits until all orders are done, for so long at most; not at all for a chip that has not answered for longer.
    func wait(atMost limit: Duration) {
        let deadline = MonotonicClock.now() + limit
        while let since = state.withLock({ $0.busySince }), since + limit > MonotonicClock.now() {
            var entries = [PollEntry(answers.fileDescriptor)]
            guard (try? poll(&entries, until: deadline)) ?? 0 > 0 else { return }
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

    private func run() {
        var work = Work()
        while true {
            var entries = [PollEntry(wakeup.fileDescriptor)]
            guard (try? poll(&entries, until: nil)) != nil else { return }
            wakeup.drain()
            let orders = state.withLock { state in
                defer { (state.orders.checks, state.orders.isLost) = (false, false) }
                return state.orders
            }
            perform(orders, &work)
            let (device, openings, fault) = (work.device, work.openings, work.fault)
            state.withLock { state in
                if !state.orders.isLost { (state.device, state.openings, state.fault) = (device, openings, fault) }
                let hasNewOrders =
                    state.orders != Orders(light: orders.light, ends: orders.ends) && !orders.ends
                state.busySince = hasNewOrders ? MonotonicClock.now() : nil
            }
            answers.signal()
            if orders.ends { return }
        }
    }

    private func perform(_ orders: Orders, _ work: inout Work) {
        if orders.ends || orders.isLost || orders.checks && work.device?.isThere != true { letGo(&work) }
        guard !orders.ends else { return }
        do throws(GPIOError) {
            if orders.checks, work.device == nil {
                work.device = try open()
                work.openings += 1
                work.fault = nil
            }
            guard let device = work.device, let wanted = orders.light, wanted != work.light else { return }
            try light(device, wanted)
            work.light = wanted
        } catch {
            letGo(&work)
            work.fault = "\(error)"
        }
    }

    /// The line is free after this: nobody else keeps the device but for the moment of a call.
    private func letGo(_ work: inout Work) {
        state.withLock { $0.device = nil }
        work.device = nil
        work.light = nil
    }
}

extension LineThread {
    /// A line that is only listened to.
    convenience init(_ name: String, opening open: @escaping @Sendable () throws(GPIOError) -> Device)
        throws(SystemCallError)
    {
        try self.init(name, opening: open) { (_, _) throws(GPIOError) in }
    }
}

extension LineThread where Device: LampDevice {
    convenience init(lamp name: String, opening open: @escaping @Sendable () throws(GPIOError) -> Device)
        throws(SystemCallError)
    {
        try self.init(name, opening: open) { (lamp, isLit) throws(GPIOError) in try lamp.set(isLit: isLit) }
    }
}
