import Media

/// The text of the camera's screen: the state, as the light shows it, and what to do.
public struct AppliancePage: Hashable, Sendable {
    /// Further faults are only in faults.txt.
    private static let mostFaults = 3

    /// Host name; `nil` before the files were read.
    public var name: String?
    /// `nil` without a network.
    public var address: String?
    /// Where browsers find the page; empty if it is not served.
    public var urls: [String] = []
    public var state = ApplianceState.boot
    /// One line for each fault, with what to do.
    public var faults: [String] = []
    /// The live stream's page.
    public var stream: ScreenPage?
    /// Why the screen shows text only although the camera should be visible without a stream.
    public var cameraProblem: String?
    /// A program on a computer waits until someone presses the button.
    public var waitsForPress = false
    /// Whether media is being recorded.
    public var isRecording = false

    public init() {}

    public var page: ScreenPage {
        let (tone, headline, advice) = words
        let camera = stream == nil ? cameraProblem : nil
        let rest = [camera].compactMap { $0 } + faultLines + [identity].compactMap { $0 }
        return ScreenPage(tone, headline, (stream?.lines ?? []) + question + advice + rest)
    }

    /// Shown during a stream as well: then a press answers the computer.
    private var question: [String] {
        guard waitsForPress else { return [] }
        switch state {
        case .asked, .stopping, .shutdown: return []
        default: return ["a computer requests the camera: press the button to allow video and audio"]
        }
    }

    private var identity: String? {
        guard urls.isEmpty else { return urls.joined(separator: "  ") }
        guard let name else { return address }
        return [name, address].compactMap { $0 }.joined(separator: "  ")
    }

    private var faultLines: [String] {
        let shown = faults.prefix(Self.mostFaults)
        let rest = faults.count - shown.count
        return shown + (rest > 0 ? ["and \(rest) more: see faults.txt on the card"] : [])
    }

    /// Headline and advice.
    private var words: (ScreenPage.Tone, String, [String]) {
        switch state {
        case .boot: (.waiting, "starting", [])
        case .updating: (.waiting, "reading changed files", [])
        case .ready: (.idle, "ready", ["press the button to go live"])
        case .recording: (.idle, "recording", ["press the button to go live as well"])
        case .webcam: (.live, "a computer is watching", ["press the button to go live as well"])
        case .asked: (.waiting, "a computer requests the camera", ["press the button to allow video and audio"])
        case .pairing: (.waiting, "a browser asks to be paired", ["press the button to admit it"])
        case .connecting: (.waiting, "connecting", [])
        case .live: (.live, liveHeadline, [])
        case .degraded: (.live, liveHeadline, ["the uplink is slow: quality reduced"])
        case .liveInSoftware: (.live, liveHeadline, ["the hardware encoder is dead: encoding in software"])
        case .paused: (.waiting, stream?.headline ?? "paused", ["sending a still frame and silence"])
        case .reconnecting: (.waiting, "connection lost; reconnecting", [])
        case .stopping: (.waiting, "ending", [])
        case .shutdown: (.waiting, "powering off", [])
        case .fault(let fault): (.fault, "\(fault.meaning) (\(fault.blinkCount) blinks)", [fault.advice])
        }
    }

    private var liveHeadline: String { (stream?.headline ?? "live") + (isRecording ? ", recording" : "") }
}

extension ApplianceFault {
    /// Advice for people.
    public var advice: String {
        switch self {
        case .streamFile: "set the server's URL in stream.json on the card"
        case .settings: "correct the file on the card; until then, defaults are used"
        case .camera: "check the camera's cable; it is retried automatically"
        case .microphone: "check the microphone's cable; it is retried automatically"
        case .network: "check the cable, or the Wi-Fi in network.json"
        case .server: "check the URL and key in stream.json, and the server"
        case .encoder: "choose a smaller dimension in device.json, or restart"
        case .board: "see faults.txt on the card"
        case .hardwareEncoder: "restart the camera when nothing is live"
        case .recording: "insert a USB stick with free space, or see faults.txt on the card"
        }
    }
}
