import Controls
import DevicePorts
import LinuxIO
import Media

// The thread's work.
extension CameraThread {
    /// A busy camera may become free soon.
    private static let retryInterval = Duration.milliseconds(50)

    func run(_ camera: SwitchableCamera, _ patience: Duration, after earlier: [CameraThread]) {
        do {
            // The camera is closed when this returns.
            try serve(camera, patience, after: earlier)
        } catch {
            failed(error)
        }
        let occupancy = state.withLock { state in
            state.hasEnded = true
            return state.occupancy
        }
        occupancy?.end()
        changed.signal()
    }

    private func failed(_ error: any Error) {
        state.withLock { $0.failure = $0.failure ?? error }
        changed.signal()
    }

    private func serve(_ wanted: SwitchableCamera, _ patience: Duration, after earlier: [CameraThread]) throws {
        let limit = MonotonicClock.now() + CameraThreadError.closingTimeout
        for thread in earlier where !thread.waitForEnd(until: limit) { throw CameraThreadError.stillInUse }
        let occupancy = try wanted.path.map { try NodeOccupancy(at: $0) }
        state.withLock { $0.occupancy = occupancy }
        guard let camera = try opened(wanted.open, until: MonotonicClock.now() + patience) else { return }
        var entries = [PollEntry(started.fileDescriptor), PollEntry(stop.fileDescriptor)]
        try poll(&entries, until: nil)
        do {
            try read(camera)
        } catch {
            // Report it before closing the camera, which may take a while.
            failed(error)
        }
    }

    /// - Returns: `nil` if the camera is no longer wanted.
    private func opened(_ open: CameraOpening, until deadline: MediaTimestamp) throws -> (any Camera)? {
        while !state.withLock({ $0.isCloseWanted }) {
            do {
                let camera = try open(stop)
                let (properties, now) = (Properties(camera), MonotonicClock.now())
                let report = camera.controls?.cameraReport ?? CameraReport()
                state.withLock { state in
                    state.report = report
                    state.properties = properties
                    state.openSince = now
                }
                changed.signal()
                return camera
            } catch let error as any CameraFailure where error.mayBeContention && MonotonicClock.now() < deadline {
                var entries = [PollEntry(stop.fileDescriptor)]
                try poll(&entries, until: MonotonicClock.now() + Self.retryInterval)
            }
        }
        return nil
    }

    private func read(_ camera: any Camera) throws {
        while let orders = takeOrders() {
            if let size = orders.size { camera.sizes?.selectSize(size) }
            if let rate = orders.rate { camera.rates?.selectFrameRate(rate) }
            if let controls = camera.controls { control(controls, orders) }
            // Orders must not wait forever if the camera delivers nothing.
            switch try camera.nextFrame(until: MonotonicClock.now() + .milliseconds(200)) {
            case .captured(let frame): captured(frame, camera.statistics)
            case .none:
                let statistics = camera.statistics
                state.withLock { $0.statistics = statistics }
            case .stopped: return stopped(camera)
            }
        }
    }

    private func stopped(_ camera: any Camera) {
        let (note, statistics) = (camera.endingNote, camera.statistics)
        state.withLock { state in
            state.hasStopped = true
            state.endingNote = note
            state.statistics = statistics
        }
        changed.signal()
    }

    private func control(_ camera: any ControllableSource, _ orders: Orders) {
        for changes in orders.controls {
            do throws(ControlError) {
                try camera.apply(changes)
            } catch {
                state.withLock { $0.refusal = error }
            }
        }
        guard orders.isReportWanted || camera.reportsLight else { return }
        let report = camera.cameraReport
        state.withLock { $0.report = report }
    }

    /// - Returns: `nil` if the camera should be closed.
    private func takeOrders() -> Orders? {
        state.withLock { state in
            guard !state.isCloseWanted else { return nil }
            defer { state.orders = Orders() }
            return state.orders
        }
    }

    private func captured(_ frame: CapturedFrame, _ statistics: VideoSourceStatistics) {
        let now = MonotonicClock.now()
        // Drop a frame that was not taken in time outside of the lock.
        _ = state.withLock { state -> CapturedFrame? in
            state.statistics = statistics
            state.hasGivenFrame = true
            if let awaited = state.awaited {
                guard frame.layout.size == awaited.size || now >= awaited.until else {
                    state.earlyFrames += 1
                    return nil
                }
                state.awaited = nil
            }
            guard state.isOn, !state.isCloseWanted else {
                state.earlyFrames += 1
                return nil
            }
            state.frames.append(frame)
            guard state.frames.count > mostWaiting else { return nil }
            state.lostFrames += 1
            return state.frames.removeFirst()
        }
        changed.signal()
    }
}
