/// How one input of the fuzzer drives a session: 1 byte for the initial state, 1 byte for the number of steps, the steps, then
/// the bytes that arrive.
struct Script {
    enum Start {
        case publisher(PublisherState)
        case receiver(ReceiverState)
    }

    /// The events, step by step; the steps are repeated until the bytes are used up.
    enum Step {
        case bytes(Int)
        case interruption(Interruption)
    }

    /// Events between bytes; each occurs once.
    enum Interruption: UInt8, CaseIterable {
        case timePasses = 0xF0
        case stop
        case connectionCloses
        case connectionOpens
        case mediaIsSent
    }

    let start: Start
    let steps: [Step]
    let bytes: UnsafeRawBufferPointer

    init?(_ input: UnsafeRawBufferPointer) {
        guard input.count >= 2 else { return nil }
        let state = Int(input[0]) % (PublisherState.allCases.count + ReceiverState.allCases.count)
        start =
            state < PublisherState.allCases.count
            ? .publisher(PublisherState.allCases[state])
            : .receiver(ReceiverState.allCases[state - PublisherState.allCases.count])
        let stepCount = min(Int(input[1] & 0x0F), input.count - 2)
        steps = input[2..<2 + stepCount].map(Self.step)
        bytes = UnsafeRawBufferPointer(rebasing: input[(2 + stepCount)...])
    }

    private init(start: Start, bytes: UnsafeRawBufferPointer) {
        self.start = start
        self.bytes = bytes
        steps = []
    }

    private static func step(_ code: UInt8) -> Step {
        switch code {
        case ..<0x80: .bytes(Int(code) + 1)
        case ..<0xF0: .bytes((Int(code) - 0x7F) * 64)
        default: Interruption(rawValue: code).map { .interruption($0) } ?? .bytes(1)
        }
    }

    var inOnePortion: Script { Script(start: start, bytes: bytes) }

    /// Whether the same bytes in one portion must have the same result.
    var isOfPortionsAlone: Bool {
        !steps.isEmpty && steps.allSatisfy { if case .bytes = $0 { true } else { false } }
    }

    /// Repeats the steps until the bytes are used up.
    func run(bytesArrive: (UnsafeRawBufferPointer) -> Void, interruption: (Interruption) -> Void) {
        var position = 0
        var isFirstRound = true
        while position < bytes.count || isFirstRound {
            let start = position
            for step in steps {
                switch step {
                case .bytes(let count):
                    let end = min(position + count, bytes.count)
                    if end > position { bytesArrive(UnsafeRawBufferPointer(rebasing: bytes[position..<end])) }
                    position = end
                case .interruption(let event):
                    if isFirstRound { interruption(event) }
                }
            }
            isFirstRound = false
            guard position == start, position < bytes.count else { continue }
            bytesArrive(UnsafeRawBufferPointer(rebasing: bytes[position...]))
            position = bytes.count
        }
    }
}
