import Settings

// What a finding means, and what to do about it.
extension CheckupFinding {
    public var step: CheckupStep { line.step }

    public var line: CheckupLine {
        switch self {
        case .card(let card): card.line
        case .network(let network): network.line
        case .time(let time): time.line
        case .nameLookup(let lookup): lookup.line
        case .server(let server): server.line
        case .key(let key): key.line
        case .camera(let camera): camera.line
        case .encoder(let encoder): encoder.line
        case .microphone(let microphone): microphone.line
        case .button(let button): LineFinding.line(.button, [button])
        case .light(let lights): LineFinding.line(.light, lights)
        case .recording(let recording): recording.line
        case .notChecked(let step, .late(let limit)): Self.late(step, after: limit)
        case .notChecked(let step, let reason): CheckupLine(step, .notChecked, reason.text)
        }
    }

    /// A driver that hangs is a fault of the device. Time servers and name servers may only be slow.
    private static func late(_ step: CheckupStep, after limit: Duration) -> CheckupLine {
        let advice =
            switch step {
            case .card: "switch off, try another card; \(Page.light(.board))"
            case .camera: "unplug the camera and plug it in again, or restart; \(Page.light(.camera))"
            case .encoder: "restart the device; \(Page.light(.hardwareEncoder))"
            case .microphone: "unplug the microphone and plug it in again, or restart; \(Page.light(.microphone))"
            case .recording: "unplug the disk and plug it in again, or restart; \(Page.light(.recording))"
            case .button, .light: "restart the device; \(Page.light(.board))"
            case .network, .time, .nameLookup, .server, .key: "try again; \(Page.network)"
            }
        return CheckupLine(step, .problem, "no answer within \(limit.components.seconds) s", advice: advice)
    }
}

extension SkipReason {
    var text: String {
        switch self {
        case .late(let limit): "no answer within \(limit.components.seconds) s"
        case .noStream: "stream.json names no server that can be used"
        case .addressGiven: "the URL has an address instead of a name"
        case .nameNotFound: "its name was not found"
        case .live: "the stream is live"
        case .failed(let reason): reason
        }
    }
}

/// Pages of the documents, in words.
enum Page {
    static let network = "see docs/trouble/network.md"
    static let server = "\(network), \"It does not reach the server\""
    static let online = "\(network), \"The camera is not online\""

    static func light(_ fault: ApplianceFault) -> String {
        "see docs/trouble/light.md, \"\(fault.blinkCount) blinks\""
    }
}

extension CardFinding {
    var line: CheckupLine {
        guard isFolder else {
            return CheckupLine(
                .card, .problem, "the folder \(directory) does not exist",
                advice: "name the folder with the JSON files with --boot")
        }
        let errors = faults.filter { !$0.fault.isWarning }
        if let first = errors.first {
            let others = errors.count > 1 ? " (and \(errors.count - 1) more)" : ""
            return CheckupLine(
                .card, .problem, "\(first.file):\(first.fault)\(others)",
                advice: "repair or replace the file; \(Page.light(first.kind))")
        }
        if let failure = writeFailures.first {
            return CheckupLine(.card, .problem, failure, advice: "try another card; \(Page.light(.board))")
        }
        if let first = faults.first {
            let others = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
            return CheckupLine(
                .card, .warning, "\(first.file):\(first.fault)\(others)", advice: "correct the file, or leave it so")
        }
        return CheckupLine(.card, .ok, "the files can be used, and the card can be written")
    }
}

extension NetworkFinding {
    var line: CheckupLine {
        let names = linksUp.joined(separator: ", ")
        guard !linksUp.isEmpty else {
            let text = "no cable or Wi-Fi is connected" + (wirelessProblem.map { "; \($0)" } ?? "")
            return CheckupLine(.network, .problem, text, advice: Page.online)
        }
        guard let address else {
            return CheckupLine(
                .network, .problem, "\(names) is up, but has no address",
                advice: "check that the router gives addresses by DHCP; \(Page.online)")
        }
        guard hasDefaultRoute else {
            return CheckupLine(
                .network, .warning, "\(names) is up, address \(address), but there is no way to the internet",
                advice: "check the router; only servers in the same network can be reached; \(Page.online)")
        }
        let text = "\(names) is up, address \(address), with a default route"
        guard let wirelessProblem else { return CheckupLine(.network, .ok, text) }
        return CheckupLine(.network, .warning, "\(text), but \(wirelessProblem)", advice: Page.online)
    }
}

extension TimeFinding {
    var line: CheckupLine {
        let need = isNeeded ? "; this stream needs it" : "; this stream does not need it"
        let advice = "open 123/udp, or name another server in timeServers of network.json; see docs/howto/time.md"
        switch (isPlausible, source) {
        case (false, _):
            return CheckupLine(
                .time, isNeeded ? .problem : .warning, "the clock shows \(text), which is wrong\(need)", advice: advice)
        case (true, .awaited):
            return CheckupLine(
                .time, .warning, "the clock shows \(text), but no time server has answered yet\(need)", advice: advice)
        case (true, .timeServer): return CheckupLine(.time, .ok, "\(text), set by a time server")
        case (true, .system): return CheckupLine(.time, .ok, "\(text), set by this system")
        }
    }
}

extension LookupFinding {
    var line: CheckupLine {
        switch self {
        case .found(let host, let addresses):
            let list = addresses.prefix(3).joined(separator: ", ")
            let others = addresses.count > 3 ? " and \(addresses.count - 3) more" : ""
            return CheckupLine(.nameLookup, .ok, "\(host) is \(list)\(others)")
        case .failed(let reason): return CheckupLine(.nameLookup, .problem, reason, advice: Page.server)
        }
    }
}

extension ServerFinding {
    var line: CheckupLine {
        switch self {
        case .reached(let peer, let tls?):
            CheckupLine(.server, .ok, "\(peer) speaks RTMP, its certificate is good (\(tls))")
        case .reached(let peer, nil): CheckupLine(.server, .ok, "\(peer) speaks RTMP")
        case .live(let destination): CheckupLine(.server, .ok, "live to \(destination)")
        case .failed(let reason, isCertificate: true):
            CheckupLine(
                .server, .problem, reason,
                advice: "check the clock and the URL; \(Page.network), \"It connects, waits and fails\"")
        case .failed(let reason, isCertificate: false):
            CheckupLine(.server, .problem, reason, advice: "check the URL in stream.json; \(Page.server)")
        }
    }
}

extension KeyFinding {
    var line: CheckupLine {
        let name =
            switch form {
            case .separate: "the key *** is there"
            case .inURL: "the URL ends with the key ***"
            case .signature: "each connection is signed with the stream's key ***"
            }
        let copy = "copy the key from the service again; see docs/services and \(Page.light(.server).dropFirst(4))"
        guard !isExample else {
            return CheckupLine(.key, .problem, "the key is the example of the documents", advice: copy)
        }
        switch lastAttempt {
        case .accepted: return CheckupLine(.key, .ok, "\(name), and the server accepted it")
        case .refused(let reason):
            return CheckupLine(.key, .problem, "\(name), but the server refused the stream: \(reason)", advice: copy)
        case .unknown: return CheckupLine(.key, .ok, "\(name); only a stream shows whether the server accepts it")
        }
    }
}
