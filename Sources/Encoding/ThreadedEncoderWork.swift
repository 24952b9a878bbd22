import DevicePorts
import Glibc
import LinuxIO
import Media

// Runs on the encoder's thread.
extension ThreadedEncoder {
    func run(_ open: () throws -> any PolledVideoEncoder) {
        do {
            let occupancy = try NodeOccupancy(at: path)
            defer { occupancy.end() }
            let now = MonotonicClock.now()
            let isWanted = state.withLock { state in
                state.occupancy = occupancy
                state.openingSince = now
                state.busySince = now
                return !state.isCloseWanted
            }
            progressed.signal()
            // The encoder is closed when this returns.
            if isWanted { serve(open) }
        } catch {
            failed(error)
        }
        _ = state.withLock { state in
            state.busySince = nil
            state.insideCount = 0
            state.hasEnded = true
            return state.waiting.take()
        }
        progressed.signal()
    }

    /// Reports a failure before closing the encoder, because closing may take long.
    private func serve(_ open: () throws -> any PolledVideoEncoder) {
        var encoder: (any PolledVideoEncoder)?
        do {
            let opened = try open()
            encoder = opened
            try opened.start()
            state.withLock { state in
                state.isOpen = true
                state.notes += opened.takeNotes()
            }
            progressed.signal()
            try encode(opened)
        } catch {
            if let encoder { tell(encoder) }
            failed(error)
        }
        encoder = nil
    }

    private func failed(_ error: any Error) {
        state.withLock { state in
            state.failure = error
            // From here on, only closing can be slow.
            state.busySince = MonotonicClock.now()
        }
        progressed.signal()
    }

    private func encode(_ encoder: any PolledVideoEncoder) throws {
        var drainEnd: MediaTimestamp?
        var waits = PollSet<Waited>()
        while let orders = takeOrders() {
            try apply(orders, encoder)
            give(try encoder.collect(), of: encoder)
            while encoder.hasRoom, let frame = takeFrame() {
                try encoder.submit(frame)
                give(try encoder.collect(), of: encoder)
            }
            drainEnd = drain(encoder, until: drainEnd)
            try wait(encoder, until: drainEnd, by: &waits)
        }
    }

    /// - Returns: `nil` if the encoder should be closed.
    private func takeOrders() -> Orders? {
        work.drain()
        return state.withLock { state in
            guard !state.isCloseWanted else { return nil }
            state.busySince = MonotonicClock.now()
            defer { state.orders = Orders() }
            return state.orders
        }
    }

    private func takeFrame() -> CapturedFrame? {
        state.withLock { state in
            guard let frame = state.waiting else { return nil }
            state.waiting = nil
            state.insideCount += 1
            return frame
        }
    }

    private func apply(_ orders: Orders, _ encoder: any PolledVideoEncoder) throws {
        if let setting = orders.frameRate {
            try encoder.setFrameRate(setting.rate, keyframeInterval: setting.keyframeInterval)
        }
        if let bitrate = orders.bitrate { try encoder.setBitrate(bitrate) }
        if orders.isKeyframeWanted { encoder.requestKeyframe() }
    }

    /// Packets first, then the counts, so that every frame is always in one of them.
    private func give(_ packets: [EncodedPacket], of encoder: any PolledVideoEncoder) {
        if !packets.isEmpty, !state.withLock({ $0.isCloseWanted }) { output(packets) }
        let frames = packets.count { $0.kind != .videoHeader }
        state.withLock { $0.encodedCount += frames }
        tell(encoder)
    }

    private func tell(_ encoder: any PolledVideoEncoder) {
        let (inside, conversions, faults) =
            (encoder.pendingFrameCount, encoder.conversionCount, encoder.faultCount)
        let notes = encoder.takeNotes()
        state.withLock { state in
            state.insideCount = inside
            state.conversionCount = conversions
            state.faultCount = faults
            state.notes += notes
        }
    }

    /// - Parameter end: when to stop a running drain.
    private func drain(_ encoder: any PolledVideoEncoder, until end: MediaTimestamp?) -> MediaTimestamp? {
        let isWanted = state.withLock { $0.isFinishWanted && !$0.isFinished && $0.waiting == nil }
        guard isWanted || end != nil else { return nil }
        if end == nil { encoder.startDraining() }
        let end = end ?? MonotonicClock.now() + Self.drainTimeout
        guard encoder.isDrained || encoder.pendingFrameCount == 0 || MonotonicClock.now() >= end else { return end }
        state.withLock { $0.isFinished = true }
        progressed.signal()
        return nil
    }

    private enum Waited {
        case work, device
    }

    /// Waits for orders and frames. Also for the device until it is drained; after that it would always be ready.
    private func wait(
        _ encoder: any PolledVideoEncoder, until end: MediaTimestamp?, by waits: inout PollSet<Waited>
    ) throws {
        let isFinished = state.withLock { state in
            state.busySince = nil
            return state.isFinished
        }
        let device = isFinished ? -1 : encoder.fileDescriptor ?? -1
        waits.removeAll()
        waits.add(.work, work.fileDescriptor)
        waits.add(.device, device, for: [.readable, .writable])
        try waits.wait(until: end)
        let found = waits.ready(.device)
        // An error that no call clears would be reported forever.
        if found.contains(.error), found.isDisjoint(with: [.readable, .writable]) {
            throw NodeOccupancyError.failed(path: path, SystemCallError("poll", number: EIO))
        }
    }
}
