import Media

extension Event {
    /// A stream's event with words for people.
    /// - Parameter destination: without secrets.
    public init(_ event: StreamEvent, destination: String) {
        let fields = event.fields.map { field -> (name: String, value: Value) in
            switch field.value {
            case .text(let text): (field.name, .text(text))
            case .integer(let number): (field.name, .integer(number))
            case .number(let number): (field.name, .number(number))
            }
        }
        self.init(nil, code: event.code.rawValue, text: event.words(destination), fields: fields)
    }
}

extension StreamEvent {
    fileprivate func words(_ destination: String) -> String {
        switch self {
        case .connected(let server): "connected to \(server)"
        case .publishing: "live at \(destination)"
        case .reconnecting(let attempt, let limit, let delay):
            "reconnecting in \(fixed(delay.inSeconds, decimals: 1)) s (attempt \(attempt)"
                + (limit.map { " of \($0))" } ?? ")")
        case .stateChanged(let state): "state: \(state.rawValue)"
        case .retry(let failure, _): failure.text
        case .serverChangeFailed(let failure): "\(code.meaning): \(failure.text)"
        case .softwareEncoderInUse(let reason), .encoderRestarted(let reason), .hardwareEncoderDead(let reason):
            "\(code.meaning): \(reason)"
        case .failed(let code, let reason): "failed: \(code.meaning): \(reason)"
        case .uplinkTooSlow, .status, .serverChanged: code.meaning
        }
    }
}
