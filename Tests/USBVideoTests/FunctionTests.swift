import Controls
import Media
import SeededNumbers
import Testing

@testable import USBVideo

/// A computer at the other end of the cable, reduced to its requests.
struct Computer {
    private static let bus = IsochronousBudget(packetBytes: 3072)
    var function = VideoFunction(VideoOffer(on: bus), on: bus)

    mutating func ask(
        _ request: UInt8, selector: UInt8, entity: UInt8 = 0, interface: UInt8, length: Int = 64
    ) -> [VideoFunction.Action] {
        function.handle(
            .setup(
                SetupPacket(
                    requestType: request & 0x80 == 0 ? 0x21 : 0xA1, request: request, value: UInt16(selector) << 8,
                    index: UInt16(entity) << 8 | UInt16(interface), length: UInt16(length))))
    }

    mutating func read(_ request: UInt8, selector: UInt8, entity: UInt8 = 0, interface: UInt8) -> [UInt8]? {
        let actions = ask(request, selector: selector, entity: entity, interface: interface)
        guard case .answer(.send(let bytes)) = actions.last else { return nil }
        return bytes
    }

    mutating func write(_ bytes: [UInt8], selector: UInt8, entity: UInt8 = 0, interface: UInt8) -> [VideoFunction
        .Action]
    {
        let actions = ask(1, selector: selector, entity: entity, interface: interface, length: bytes.count)
        guard actions.last == .answer(.receive(bytes.count)) else { return actions }
        return function.handle(.data(bytes))
    }

    /// - Returns: the resulting change of the camera.
    mutating func moves(_ bytes: [UInt8], _ selector: UInt8, of entity: UInt8) -> String? {
        guard case .change(let change) = write(bytes, selector: selector, entity: entity, interface: 0).last else {
            return nil
        }
        return "\(change)"
    }

    /// Format and frame by number, interval in units of 100 ns.
    static func parameters(_ format: UInt8, _ frame: UInt8, _ interval: UInt32, count: Int = 34) -> [UInt8] {
        var bytes: [UInt8] = [1, 0, format, frame]
        bytes += (0..<4).map { UInt8(truncatingIfNeeded: interval >> (8 * $0)) }
        return bytes + [UInt8](repeating: 0, count: count - 8)
    }

    mutating func start(_ format: UInt8, _ frame: UInt8, _ interval: UInt32) -> [VideoFunction.Action] {
        _ = write(Self.parameters(format, frame, interval), selector: 1, interface: 1)
        _ = write(Self.parameters(format, frame, interval), selector: 2, interface: 1)
        return function.handle(.streamOn)
    }
}

@Suite struct FunctionTests {
    private let high = VideoFunction.Event.connected(.high)

    @Test func statesFollowTheComputer() {
        var computer = Computer()
        #expect(computer.function.handle(high) == [.report(.attached(.high))])
        let actions = computer.start(1, 3, 333_333)
        guard case .startFrames(let choice) = actions.last else {
            Issue.record("\(actions)")
            return
        }
        #expect("\(choice.mode)" == "mjpeg 1280x720" && choice.interval == 333_333)
        #expect(actions.first == .report(.active(.high, choice)))
        #expect(computer.function.handle(.streamOff) == [.stopFrames, .report(.attached(.high))])
        #expect(computer.function.handle(.disconnected) == [.report(.notAttached)])
    }

    @Test func unpluggingStopsFrames() {
        var computer = Computer()
        _ = computer.function.handle(high)
        _ = computer.start(2, 1, 333_333)
        #expect(computer.function.handle(.disconnected) == [.reopen, .report(.notAttached)])
        _ = computer.function.handle(high)
        _ = computer.start(2, 1, 333_333)
        #expect(computer.function.handle(high) == [.reopen, .report(.attached(.high))])
    }

    /// Computers choose an endpoint setting that carries this much.
    @Test(arguments: [(3072, USBSpeed.high, 3072), (3072, .full, 1023), (2500, .high, 2499), (512, .full, 512)])
    func transferIsNoLargerThanTheEndpoint(packetBytes: Int, speed: USBSpeed, largest: UInt32) throws {
        let bus = IsochronousBudget(packetBytes: packetBytes)
        var computer = Computer()
        computer.function = VideoFunction(VideoOffer(on: bus), on: bus)
        _ = computer.function.handle(.connected(speed))
        let probe = computer.read(0x81, selector: 1, interface: 1)
        let agreed = try #require(probe)
        // dwMaxPayloadTransferSize.
        let field = try #require(agreed.count >= 26 ? agreed[22..<26] : nil)
        #expect(field.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == largest)
    }

    /// After a stop that follows unplugging, the kernel reports no new connection.
    @Test func requestCountsAsAConnectionToo() {
        var computer = Computer()
        #expect(computer.ask(0x81, selector: 1, interface: 1).first == .report(.attached(.unknown)))
    }

    @Test func nearestOfferedModeIsAgreedOn() throws {
        var computer = Computer()
        _ = computer.write(Computer.parameters(9, 9, 400_001), selector: 1, interface: 1)
        let answer = computer.read(0x81, selector: 1, interface: 1)
        let agreed = try #require(answer)
        // YUYV, 640x480, 25 per second.
        #expect(agreed.count == 34 && Array(agreed[2...7]) == [3, 2, 0x80, 0x1A, 0x06, 0])
        #expect(Array(agreed[18...21]) == [0, 0x60, 0x09, 0])
        #expect(Array(agreed[22...25]) == [0, 0x0C, 0, 0])
    }

    @Test func uvc10ProposalIsAccepted() throws {
        var computer = Computer()
        _ = computer.write(Computer.parameters(1, 2, 0, count: 26), selector: 1, interface: 1)
        let answer = computer.read(0x81, selector: 1, interface: 1)
        let agreed = try #require(answer)
        #expect(Array(agreed[2...7]) == [1, 2, 0x15, 0x16, 0x05, 0])
    }

    @Test func probeAloneDoesNotChangeTheCommittedMode() {
        var computer = Computer()
        _ = computer.write(Computer.parameters(2, 2, 333_333), selector: 2, interface: 1)
        _ = computer.write(Computer.parameters(1, 1, 333_333), selector: 1, interface: 1)
        guard case .startFrames(let choice) = computer.function.handle(.streamOn).last else {
            Issue.record("no frames")
            return
        }
        #expect("\(choice.mode)" == "nv12 640x480")
    }

    /// A computer that sends another request has abandoned the data of the previous one; the next data belong to the new
    /// request.
    @Test func abandonedProposalChangesNothing() {
        var computer = Computer()
        _ = computer.write(Computer.parameters(2, 2, 333_333), selector: 2, interface: 1)
        _ = computer.ask(1, selector: 2, interface: 1, length: 34)
        _ = computer.read(0x81, selector: 2, entity: 2, interface: 0)
        #expect(computer.function.handle(.data(Computer.parameters(1, 1, 333_333))) == [])
        // Too short to be valid.
        _ = computer.ask(1, selector: 2, interface: 1, length: 34)
        _ = computer.function.handle(.data([1]))
        #expect(computer.function.handle(.data(Computer.parameters(1, 1, 333_333))) == [])
        guard case .startFrames(let choice) = computer.function.handle(.streamOn).last else {
            Issue.record("no frames")
            return
        }
        #expect("\(choice.mode)" == "nv12 640x480")
    }

    @Test func limitsAreThoseOfTheMode() {
        var computer = Computer()
        _ = computer.write(Computer.parameters(1, 3, 400_000), selector: 1, interface: 1)
        #expect(computer.read(0x82, selector: 1, interface: 1).map { Array($0[4...7]) } == [0x15, 0x16, 0x05, 0])
        #expect(computer.read(0x83, selector: 1, interface: 1).map { Array($0[4...7]) } == [0x80, 0x84, 0x1E, 0])
        #expect(computer.read(0x84, selector: 1, interface: 1) == [UInt8](repeating: 0, count: 34))
        #expect(computer.ask(0x84, selector: 2, interface: 1).last == .answer(.stall), "commit has none")
        #expect(computer.read(0x85, selector: 1, interface: 1) == [34, 0])
        #expect(computer.read(0x86, selector: 1, interface: 1) == [3])
    }

    @Test(arguments: [(0x81, 9, 0, 1), (0x99, 1, 0, 1), (0x81, 1, 0, 7), (0x81, 2, 9, 0), (0x81, 99, 1, 0)])
    func unknownRequestsAreStalled(request: Int, selector: Int, entity: Int, interface: Int) {
        var computer = Computer()
        let actions = computer.ask(
            UInt8(request), selector: UInt8(selector), entity: UInt8(entity), interface: UInt8(interface))
        #expect(actions.last == .answer(.stall))
    }

    /// No request, in any order, may crash the camera or select something that is not offered.
    @Test func anyRequestIsAnswered() {
        var numbers = SeededGenerator(seed: 20)
        var computer = Computer()
        computer.function.controlsChanged(UnitTests.statuses)
        for _ in 0..<200_000 {
            let bytes = (0..<8).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            let event: VideoFunction.Event
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0: event = .connected(.high)
            case 1: event = .disconnected
            case 2: event = .streamOn
            case 3: event = .streamOff
            case 4, 5:
                let count = Int.random(in: 0...60, using: &numbers)
                event = .data((0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) })
            default:
                event = .setup(
                    SetupPacket(
                        requestType: [0x21, 0xA1, bytes[0]][Int(bytes[1]) % 3],
                        request: bytes[2] % 16 | bytes[2] & 0x80,
                        value: UInt16(bytes[3] % 16) << 8, index: UInt16(bytes[4] % 4) << 8 | UInt16(bytes[5] % 3),
                        length: UInt16(bytes[6] % 70)))
            }
            for action in computer.function.handle(event) {
                switch action {
                case .answer(.send(let answer)):
                    guard case .setup(let setup) = event else { continue }
                    #expect(answer.count <= Int(setup.length))
                case .answer(.receive(let count)): #expect(count <= 60)
                case .startFrames(let choice): #expect(choice.mode.intervals.contains(choice.interval))
                default: break
                }
            }
        }
    }
}
