import ApplianceLogic
import Media
import Settings
import StreamLogic
import StreamQuality

/// What the stream's events have said last, for status and LED.
struct StreamSummary {
    var quality: String?
    var framesPerSecond: Double?
    var bitsPerSecond: Int?
    var bufferedSeconds: Double?
    var encoder: String?
    /// What the last status report said of camera and microphone.
    var sourceFields: [(name: String, value: Event.Value)] = []
    /// Lower than where the stream began.
    var isLowered = false
    var hasBeenUp = false

    mutating func eventHappened(_ event: Event, start: String) {
        switch event.code {
        case EventCode.publishing.rawValue: hasBeenUp = true
        case EventCode.status.rawValue:
            quality = event.text(of: "quality")
            encoder = event.text(of: "encoder")
            framesPerSecond = event.number(of: "videoFramesPerSecond")
            bitsPerSecond = event.number(of: "bitsPerSecond").map { Int($0) }
            bufferedSeconds = event.number(of: "bufferedSeconds")
            sourceFields = event.sourceFields
        case EventCode.qualityChanged.rawValue:
            quality = event.text(of: "quality")
            guard let bitrate = event.number(of: "videoBitsPerSecond"), let begin = try? VideoQuality(named: start)
            else { return }
            isLowered = Int(bitrate) < begin.bitrate.bitsPerSecond
        default: break
        }
    }
}

extension Event {
    func text(of name: String) -> String? {
        for field in fields where field.name == name {
            if case .text(let text) = field.value { return text }
        }
        return nil
    }

    fileprivate func number(of name: String) -> Double? {
        fields.first { $0.name == name }?.value.number
    }

    /// The stream's new state, where that is what happened.
    var streamState: StreamState? {
        code == EventCode.stateChanged.rawValue ? text(of: "state").flatMap(StreamState.init) : nil
    }

    /// Whether it belongs into a ring of few events: what comes many times a minute does not.
    var isWorthKeeping: Bool {
        if code == EventCode.status.rawValue || code == EventCode.stateChanged.rawValue { return false }
        let named = ["sourceEnded", "sourceInterrupted", "sourceReturned", "ended", "configured", "refused"]
        return code != 0 || named.contains(name)
    }
}

extension ApplianceFault {
    /// What the LED shows for a stream that failed.
    init(_ failure: StreamFailure) {
        switch failure.code {
        case .cameraUnavailable, .captureRestartFailed: self = .camera
        case .microphoneUnavailable, .audioInterrupted: self = .microphone
        case .videoEncodingFailed, .audioEncodingFailed, .unsupportedResolution, .unsupportedSampleRate:
            self = .encoder
        default: self = failure.kind == .media ? .encoder : .server
        }
    }
}

extension DeviceDescription.FlashLED {
    var mode: Appliance.FlashLEDMode {
        switch self {
        case .off: .off
        case .on: .on
        case .live: .whileLive
        }
    }
}
