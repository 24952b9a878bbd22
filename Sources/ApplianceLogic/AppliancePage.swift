import Media

/// What the camera's screen says: its state in words, as the light shows it, and what to do.
public struct AppliancePage: Hashable, Sendable {
    /// More than these is left to faults.txt.
    private static let mostFaults = 3

    /// As the network knows it; `nil` before the files were read.
    public var name: String?
    /// `nil` without a network.
    public var address: String?
    public var state = ApplianceState.boot
    /// A line for each thing that is wrong, and what to do.
    public var faults: [String] = []
    /// Of the live stream.
    public var stream: ScreenPage?
    /// Why the words stand alone where the camera was to be seen without a stream, too.
    public var cameraProblem: String?
    /// A program on a computer waits until somebody presses the button.
    public var waitsForPress = false

    public init() {}

    public var page: ScreenPage {
        let (tone, headline, advice) = words
        let camera = stream == nil ? cameraProblem : nil
        let rest = [camera].compactMap { $0 } + faultLines + [identity].compactMap { $0 }
        return ScreenPage(tone, headline, (stream?.lines ?? []) + question + advice + rest)
    }

    /// Beside a stream, too: the press is the answer to the computer then.
    private var question: [String] {
        guard waitsForPress else { return [] }
        switch state {
        case .asked, .stopping, .shutdown: return []
        default: return ["a computer asks for the camera: press the button to let it see and hear"]
        }
    }

    private var identity: String? {
        guard let name else { return address }
        return [name, address].compactMap { $0 }.joined(separator: "  ")
    }

    private var faultLines: [String] {
        let shown = faults.prefix(Self.mostFaults)
        let rest = faults.count - shown.count
        return shown + (rest > 0 ? ["and \(rest) more: see faults.txt on the card"] : [])
    }

    /// Headline, and what a person can do.
    private var words: (ScreenPage.Tone, String, [String]) {
        switch state {
        case .boot: (.waiting, "starting", [])
        case .updating: (.waiting, "reading changed files", [])
        case .ready: (.idle, "ready", ["press the button to go live"])
        case .webcam: (.live, "a computer is watching", ["press the button to go live as well"])
        case .asked: (.waiting, "a computer asks for the camera", ["press the button to let it see and hear"])
        case .connecting: (.waiting, "connecting", [])
        case .live: (.live, liveHeadline, [])
        case .degraded: (.live, liveHeadline, ["the uplink is poor: quality is lowered"])
        case .liveInSoftware: (.live, liveHeadline, ["the hardware encoder is dead: software encodes"])
        case .paused: (.waiting, stream?.headline ?? "paused", ["a still frame and silence go out"])
        case .reconnecting: (.waiting, "connection lost, reconnecting", [])
        case .stopping: (.waiting, "ending", [])
        case .shutdown: (.waiting, "powering off", [])
        case .fault(let fault): (.fault, "\(fault.meaning) (\(fault.blinkCount) blinks)", [fault.advice])
        }
    }

    private var liveHeadline: String { stream?.headline ?? "live" }
}

extension ApplianceFault {
    /// What a person can do about it.
    public var advice: String {
        switch self {
        case .streamFile: "put the server's URL into stream.json on the card"
        case .settings: "mend the file on the card; until then defaults are used"
        case .camera: "check the camera's cable; it is tried again by itself"
        case .microphone: "check the microphone's cable; it is tried again by itself"
        case .network: "check the cable, or the Wi-Fi in network.json"
        case .server: "check URL and key in stream.json, and the server"
        case .encoder: "choose a smaller dimension in device.json, or restart"
        case .board: "see faults.txt on the card"
        case .hardwareEncoder: "restart the camera when nothing is live"
        }
    }
}
