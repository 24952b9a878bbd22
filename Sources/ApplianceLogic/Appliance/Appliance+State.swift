import StreamLogic

// What light, console and status show.
extension Appliance {
    /// A live stream is shown as live whatever else is wrong: that is the purpose of a tally light.
    var derivedState: ApplianceState {
        if powerOff != nil { return .shutdown }
        switch stream {
        case .live: return liveState
        case .disconnecting: return .stopping
        case .reconnecting: return .reconnecting
        case .connecting: return connectingState
        case .unknown, .disconnected, .error: if isWaitingForClock { return connectingState }
        }
        if !isLoaded { return .boot }
        // A person must see this whatever prevents a stream: the press then means something else.
        if isPairing { return .pairing }
        switch webcam {
        case .active: return .webcam
        // A person must see this even while no stream can start.
        case .waiting: return .asked
        case .none, .withoutCamera: break
        }
        if isLoading { return .updating }
        // Like a webcam in use, it is shown whatever prevents a stream.
        if isRecording { return .recording }
        return faults.first.map { .fault($0) } ?? .ready
    }

    /// The dead encoder is shown first: the uplink may improve in a minute, the encoder will not.
    private var liveState: ApplianceState {
        if isPaused { return .paused }
        if faultBook.current.contains(.hardwareEncoder) { return .liveInSoftware }
        return isDegraded ? .degraded : .live
    }

    /// Network before server: without a network the server's state is unknown.
    private var connectingState: ApplianceState {
        let faults = faultBook.current
        if faults.contains(.network) { return .fault(.network) }
        return faults.contains(.server) ? .fault(.server) : .connecting
    }
}
