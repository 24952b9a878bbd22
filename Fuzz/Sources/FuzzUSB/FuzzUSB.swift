import Controls
import FuzzDriver
import Media
import USBVideo

@main enum FuzzUSB {
    static func main() { fuzz(testOneInput) }
}

private let bus = IsochronousBudget()
private let offer = VideoOffer(on: bus)
private let statuses = [
    ControlOffer(.brightness, range: -1...1), ControlOffer(.zoom, range: 1...4), ControlOffer(.lens, range: 0...10),
    ControlOffer(.focus, words: ["auto", "continuous", "manual"]), ControlOffer(.exposure, words: ["auto", "locked"]),
    ControlOffer(.exposureTime, range: 0.1...33),
    ControlOffer(.whiteBalance, words: ["auto", "locked"], range: 2000...8000),
].map { ControlStatus($0, wished: nil, report: CameraReport()) }

/// A computer's actions: a byte for the kind of each, followed by its data.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var bytes = UnsafeRawBufferPointer(start: data, count: count)[...]
    var function = VideoFunction(offer, on: bus)
    function.controlsChanged(statuses)
    while let kind = bytes.popFirst() {
        guard let event = event(of: kind, &bytes) else { break }
        for action in function.handle(event) { check(action, to: event) }
        checkAgreement(&function)
    }
    return 0
}

private func event(of kind: UInt8, _ bytes: inout Slice<UnsafeRawBufferPointer>) -> VideoFunction.Event? {
    func take(_ count: Int) -> [UInt8] {
        defer { bytes = bytes.dropFirst(count) }
        return [UInt8](bytes.prefix(count))
    }
    switch kind % 8 {
    case 0: return .connected(.high)
    case 1: return .disconnected
    case 2: return .streamOn
    case 3: return .streamOff
    case 4: return .data(take(Int(bytes.popFirst() ?? 0) % 61))
    default:
        let packet = take(8)
        guard packet.count == 8 else { return nil }
        func pair(_ index: Int) -> UInt16 { UInt16(packet[index]) | UInt16(packet[index + 1]) << 8 }
        return .setup(
            SetupPacket(requestType: packet[0], request: packet[1], value: pair(2), index: pair(4), length: pair(6)))
    }
}

private func check(_ action: VideoFunction.Action, to event: VideoFunction.Event) {
    switch action {
    case .answer(.send(let answer)):
        guard case .setup(let setup) = event else { preconditionFailure("an answer to nothing") }
        precondition(answer.count <= Int(setup.length), "more than the computer takes")
    case .answer(.receive(let count)): precondition(count <= 60, "more than the kernel takes")
    case .startFrames(let choice): precondition(choice.mode.intervals.contains(choice.interval), "not offered")
    case .change(let change):
        let offers = statuses.map(\.offer)
        precondition(offers.contains { $0.name == change.name }, "a control that the camera has not")
    default: break
    }
}

/// Whatever was requested before, the agreed mode is one of those offered.
private func checkAgreement(_ function: inout VideoFunction) {
    var asked = function
    let get = SetupPacket(requestType: 0xA1, request: 0x81, value: 0x0200, index: 1, length: 34)
    guard case .answer(.send(let agreed)) = asked.handle(.setup(get)).last, agreed.count == 34 else {
        preconditionFailure("no answer to what every computer asks")
    }
    precondition(offer.mode(format: Int(agreed[2]), frame: Int(agreed[3])) != nil, "agreed on what is not offered")
}
