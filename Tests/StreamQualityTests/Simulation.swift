import Media
import StreamQuality

/// The buffer and the controller with an encoder on one side, and a link and a receiver on the other, in virtual time.
struct Simulation {
    var link: SimulatedLink
    var flaws = SimulatedEncoder.Flaws()
    var settings: QualitySettings
    var seed: UInt64 = 1
    /// Times (in seconds) at which the connection is lost and replaced.
    var reconnections: [Double] = []
    /// Whether the controller is notified of the still scene.
    var isStillPaused = false
    /// Settings that apply from a given time.
    var settingsChanges: [(time: Double, settings: QualitySettings)] = []

    private static let step = 0.01

    init(_ script: LinkScript, settings: QualitySettings) {
        link = SimulatedLink(script: script)
        self.settings = settings
    }

    /// 1280x720 with a size that follows the link.
    static func resizable(_ script: LinkScript, policy: ResizePolicy = .seamless) -> Simulation {
        var simulation = high3(script)
        simulation.settings.frameSizes = FrameSizeLadder(full: FrameSize(width: 1280, height: 720))
        simulation.settings.resize = policy
        simulation.flaws.skipsLargeFrames = true
        return simulation
    }

    static func high3(_ script: LinkScript) -> Simulation {
        Simulation(script, settings: QualitySettings(videoQuality: .high3, audioQuality: .high2))
    }

    func run(seconds: Double) -> SimulationResult {
        var run = Run(self)
        for index in 0..<Int((seconds / Self.step).rounded()) {
            run.advance(from: Double(index) * Self.step, by: Self.step)
        }
        return run.finish()
    }

    private struct Run {
        let setup: Simulation
        var link: SimulatedLink
        var encoder: SimulatedEncoder
        var buffer: SendBuffer
        var controller: QualityController
        var result: SimulationResult
        var checker = ReferenceChecker()
        var stepCount = 0
        var nextAudio = 0.0
        var nextMeasurement = 0.0
        var audio: AudioQuality?
        var pendingReconnections: [Double]
        var pendingSettings: [(time: Double, settings: QualitySettings)]
        var newestCapture: Double?

        init(_ setup: Simulation) {
            self.setup = setup
            link = setup.link
            buffer = SendBuffer(.target(setup.settings.bufferLimits))
            controller = QualityController(settings: setup.settings, now: .zero)
            encoder = SimulatedEncoder(point: controller.operatingPoint, flaws: setup.flaws, seed: setup.seed)
            audio = setup.settings.audioQuality
            result = SimulationResult(script: setup.link.script)
            pendingReconnections = setup.reconnections
            pendingSettings = setup.settingsChanges
        }

        mutating func advance(from time: Double, by step: Double) {
            let now = MediaScript.time(time)
            if setup.isStillPaused { controller.paused(setup.flaws.isStill(at: time), now: now) }
            if let next = pendingReconnections.first, time >= next {
                pendingReconnections.removeFirst()
                link.reconnect()
                heard(buffer.connectionOpened(headers: [], now: now))
                perform(controller.connectionOpened(now: now), at: time)
            }
            if let next = pendingSettings.first, time >= next.time {
                pendingSettings.removeFirst()
                perform(controller.settingsChanged(to: next.settings, now: now), at: time)
            }
            if setup.settings.videoQuality != nil, let frame = encoder.frame(at: time) {
                heard(buffer.append(frame, now: now))
            }
            appendAudio(time)
            while link.hasRoom, let packet = buffer.takeNext() { link.accept(packet) }
            for packet in link.advance(from: time, by: step) { received(packet, at: time + step) }
            stepCount += 1
            if stepCount % 2 == 0 {
                heard(
                    buffer.kernelQueueMeasured(
                        unsentBytes: link.unsentBytes, unacknowledgedBytes: link.unacknowledgedBytes, now: now))
                result.longestDuration = max(result.longestDuration, buffer.duration)
            }
            if time + 1e-9 >= nextMeasurement { measure(time) }
        }

        private mutating func appendAudio(_ time: Double) {
            guard let audio, time >= nextAudio else { return }
            nextAudio += 1024 / 44_100
            let packet = EncodedPacket(
                kind: .audio, decodeTime: MediaScript.time(time),
                payload: [UInt8](repeating: 0, count: Int(Double(audio.bitrate.bitsPerSecond) / 8 * 1024 / 44_100)))
            heard(buffer.append(packet, now: packet.decodeTime))
        }

        private mutating func measure(_ time: Double) {
            nextMeasurement += 0.1
            let measurement = StreamMeasurement(
                now: MediaScript.time(time), buffer: buffer, encodedVideoBytes: encoder.encodedBytes,
                encodedFrames: encoder.encodedFrames, skippedFrames: encoder.skippedFrames)
            perform(controller.measured(measurement), at: time)
            buffer.flightLimit = controller.flightLimit
            let age = newestCapture.map { time - $0 } ?? (setup.settings.videoQuality == nil ? 0 : time)
            result.moments.append(
                SimulationResult.Moment(
                    time: time, age: age, arrivedBytes: result.arrivedBytes, point: controller.operatingPoint,
                    duration: buffer.duration.inSeconds, delay: buffer.deliveryDelay.inSeconds,
                    estimate: controller.linkEstimate?.kilobitsPerSecond, encoderKilobits: encoder.bitrate / 1000))
        }

        private mutating func received(_ packet: EncodedPacket, at time: Double) {
            result.arrivedBytes += packet.payload.count + 14
            checker.received(packet)
            guard packet.isVideo else { return }
            let captured = Double(packet.decodeTime.nanoseconds) / 1e9
            newestCapture = captured
            result.frames.append((arrived: time, captured: captured))
        }

        private mutating func heard(_ events: [SendBufferEvent]) {
            for event in events {
                switch event {
                case .keyframeNeeded: encoder.requestKeyframe()
                case .droppedItems(let items):
                    result.droppedFrames += items.filter { $0.kind != .audio }.count
                    result.droppedAudio += items.filter { $0.kind == .audio }.count
                default: break
                }
            }
        }

        private mutating func perform(_ actions: [QualityAction], at time: Double) {
            let now = MediaScript.time(time)
            for action in actions {
                switch action {
                case .resizeVideo(let point):
                    encoder.resize(to: point.frameSize)
                    result.resizes.append(time)
                case .setVideo(let bitrate, let frameRate, let stretches):
                    encoder.gopSeconds = stretches ? 4 : 2
                    encoder.set(bitrate: bitrate, frameRate: frameRate, at: time)
                    result.encoderCommands.append(time)
                case .setAudio(let quality): audio = quality
                case .requestKeyframe: encoder.requestKeyframe()
                case .discardWaitingVideo:
                    result.discards.append(time)
                    heard(buffer.discardWaitingVideo(now: now))
                case .restartStream(let point):
                    result.restarts.append((time, point))
                    encoder.resize(to: point.frameSize)
                    encoder.set(bitrate: point.videoBitrate, frameRate: point.frameRate, at: time)
                    audio = point.audioQuality
                    link.reconnect()
                    heard(buffer.connectionOpened(headers: [], now: now))
                    perform(controller.connectionOpened(isRestart: true, now: now), at: time)
                case .reportChange(let change): result.changes.append((time, change))
                }
            }
        }

        func finish() -> SimulationResult {
            var result = result
            result.danglingFrames = checker.danglingCount
            return result
        }
    }
}

/// The results of a simulation.
struct SimulationResult {
    struct Moment {
        let time: Double
        /// Seconds since the receiver's newest frame was captured.
        let age: Double
        let arrivedBytes: Int
        let point: OperatingPoint
        let duration: Double
        let delay: Double
        let estimate: Double?
        let encoderKilobits: Double
    }

    let script: LinkScript
    var moments: [Moment] = []
    var frames: [(arrived: Double, captured: Double)] = []
    var changes: [(time: Double, change: QualityChange)] = []
    var encoderCommands: [Double] = []
    var discards: [Double] = []
    /// When the size changed within the stream.
    var resizes: [Double] = []
    var restarts: [(time: Double, point: OperatingPoint)] = []
    var arrivedBytes = 0
    var droppedFrames = 0
    var droppedAudio = 0
    var danglingFrames = 0
    var longestDuration = Duration.zero

    init(script: LinkScript) { self.script = script }

    /// The share of time, after the first second, with a frame younger than `limit` seconds.
    func shareOfTime(youngerThan limit: Double) -> Double {
        let counted = moments.filter { $0.time >= 1 }
        return Double(counted.filter { $0.age < limit }.count) / Double(max(1, counted.count))
    }

    /// The highest age of the newest frame, outside the given periods.
    func worstAge(outside excluded: [ClosedRange<Double>] = []) -> Double {
        moments.filter { moment in moment.time >= 1 && !excluded.contains { $0.contains(moment.time) } }
            .map(\.age).max() ?? 0
    }

    /// The share of the link's capacity that the stream used in this period.
    func use(of times: ClosedRange<Double>) -> Double {
        let inside = moments.filter { times.contains($0.time) }
        guard let first = inside.first, let last = inside.last else { return 0 }
        let used = Double(last.arrivedBytes - first.arrivedBytes) * 8
        let possible = inside.dropLast().reduce(0) { $0 + script.bitsPerSecond(at: $1.time) * 0.1 }
        return used / max(1, possible)
    }

    /// The highest ratio of requested rates within any period of this many seconds.
    func largestSwing(of times: ClosedRange<Double>, within seconds: Double) -> Double {
        let inside = moments.filter { times.contains($0.time) }
        return inside.reduce(1) { largest, moment in
            let rates = inside.filter { (moment.time...moment.time + seconds).contains($0.time) }.map { moment in
                let audio = moment.point.audioQuality?.bitrate.bitsPerSecond ?? 0
                return Double(moment.point.videoBitrate.bitsPerSecond + audio)
            }
            return max(largest, (rates.max() ?? 1) / max(1, rates.min() ?? 1))
        }
    }

    func changes(in times: ClosedRange<Double>) -> Int { changes.filter { times.contains($0.time) }.count }

    func point(at time: Double) -> OperatingPoint? { moments.last { $0.time <= time }?.point }

    /// Seconds from `time` to the arrival of the first frame captured after it.
    func timeToFrame(after time: Double) -> Double {
        (frames.first { $0.captured >= time }?.arrived ?? .infinity) - time
    }

    /// Seconds from `time` until the video's bit rate reached this target again; infinite if it never did.
    func timeToBitrate(_ bitrate: Bitrate, after time: Double) -> Double {
        (moments.first { $0.time >= time && $0.point.videoBitrate >= bitrate }?.time ?? .infinity) - time
    }
}
