import Media
import SeededNumbers
import StreamLogic
import Testing

/// Every event in every phase, and long random sequences.
@Suite("Stream session, all states and events")
struct StreamSessionTableTests {
    /// The steps that lead to each phase. Events refer to the newest connection.
    static let phases: [(name: String, steps: [StreamSessionScript.Step])] = [
        ("unknown", []),
        ("opening", [.start]),
        ("opened", [.start, .connected(1)]),
        ("waiting", [.start, .failed(1, refused)]),
        ("publishing", [.start, .publishing(1)]),
        ("lost", [.start, .publishing(1), .failed(1, reset)]),
        ("moving", [.start, .publishing(1), .move(1, nil)]),
        ("moveReady", [.start, .publishing(1), .move(1, nil), .publishing(2)]),
        ("moved", [.start, .publishing(1), .move(1, nil), .publishing(2), .keyframe]),
        ("silent", [.start, .publishing(1), .silent(1)]),
        ("silentBetween", [.start, .publishing(1), .silent(1), .failed(2, refused)]),
        ("closing", [.start, .publishing(1), .stop]),
        ("restarting", [.start, .publishing(1), .restart]),
        ("disconnected", [.start, .stop]),
        ("failed", [.start, .failed(1, wrongPassword)]),
    ]

    static func events(newest: Int) -> [(name: String, step: StreamSessionScript.Step)] {
        var events: [(name: String, step: StreamSessionScript.Step)] = [
            ("start", .start), ("stop", .stop), ("restart", .restart), ("keyframe", .keyframe),
            ("linkDown", .linkDown), ("linkUp", .linkUp(stalled: true)), ("timer", .timer),
        ]
        guard newest > 0 else { return events }
        events += [
            ("connected", .connected(newest)), ("publishing", .publishing(newest)), ("failed", .failed(newest, reset)),
            ("closed", .closed(newest)), ("move", .move(newest, nil)), ("silent", .silent(newest)),
            ("resumed", .resumed(newest)),
        ]
        // The present connection, while another one is being opened.
        guard newest > 1 else { return events }
        events += [
            ("older failed", .failed(newest - 1, reset)), ("older closed", .closed(newest - 1)),
            ("older moves", .move(newest - 1, nil)), ("older silent", .silent(newest - 1)),
            ("older resumed", .resumed(newest - 1)),
        ]
        return events
    }

    /// The reaction of each phase to each event; events that are not listed have no effect.
    static let expected: [String: [String: String]] = [
        "unknown": ["start": "connecting, open 1", "stop": "stopped", "restart": "connecting, open 1"],
        "opening": [
            "start": "already running", "stop": "abort 1, start canceled, disconnected, stopped",
            "restart": "abort 1, open 2", "connected": "1001",
            "publishing": "keyframe, media 1, 1002, live, started", "failed": "3002, 1102",
        ],
        "opened": [
            "start": "already running", "stop": "abort 1, start canceled, disconnected, stopped",
            "restart": "abort 1, open 2", "publishing": "keyframe, media 1, 1002, live, started",
            "failed": "3003, 1102",
        ],
        "waiting": [
            "start": "already running", "stop": "start canceled, disconnected, stopped", "restart": "open 2",
            "linkUp": "open 2",
        ],
        "publishing": [
            "start": "already running", "stop": "close 1, disconnecting", "restart": "close 1, disconnecting",
            "failed": "3004, 1102, reconnecting", "move": "open 2", "silent": "open 2",
        ],
        "lost": [
            "start": "already running", "stop": "disconnected, stopped", "restart": "connecting, open 2",
            "linkUp": "open 2",
        ],
        "moving": [
            "start": "already running", "stop": "abort 2, close 1, disconnecting",
            "restart": "abort 2, close 1, disconnecting", "connected": "1001", "publishing": "keyframe",
            "failed": "2004", "older failed": "3004, 1102, reconnecting",
        ],
        "moveReady": [
            "start": "already running", "stop": "abort 2, close 1, disconnecting",
            "restart": "abort 2, close 1, disconnecting", "keyframe": "media 2, close 1, 2003", "failed": "2004",
            "older failed": "3004, 1102, reconnecting, keyframe, media 2, 1002, live",
        ],
        "moved": [
            "start": "already running", "stop": "close 2, disconnecting", "restart": "close 2, disconnecting",
            "failed": "3004, 1102, reconnecting", "move": "open 3", "silent": "open 3",
        ],
        "silent": [
            "start": "already running", "stop": "abort 2, close 1, disconnecting",
            "restart": "abort 2, close 1, disconnecting",
            "connected": "abort 1, 3004, 1102, reconnecting, 1001", "older resumed": "abort 2",
            "older failed": "3004, 1102, reconnecting", "older moves": "abort 2, open 3",
        ],
        "silentBetween": [
            "start": "already running", "stop": "close 1, disconnecting", "restart": "close 1, disconnecting",
            "older failed": "3004, 1102, reconnecting", "older moves": "open 3",
        ],
        "closing": ["failed": "disconnected, stopped", "closed": "disconnected, stopped"],
        "restarting": [
            "stop": "start canceled", "failed": "disconnected, connecting, open 2",
            "closed": "disconnected, connecting, open 2",
        ],
        "disconnected": ["start": "connecting, open 2", "stop": "stopped", "restart": "connecting, open 2"],
        "failed": ["start": "connecting, open 2", "stop": "stopped", "restart": "connecting, open 2"],
    ]

    @Test func everyEventInEveryPhase() throws {
        for phase in Self.phases {
            var script = StreamSessionScript()
            _ = script.play(phase.steps)
            let expected = try #require(Self.expected[phase.name])
            for event in Self.events(newest: script.connections.count) {
                var copy = script
                let log = copy.play(event.step).joined(separator: ", ")
                #expect(log == expected[event.name] ?? "", "\(event.name) while \(phase.name)")
            }
        }
    }

    static let allowedNext: [StreamState: Set<StreamState>] = [
        .unknown: [.connecting], .connecting: [.live, .disconnected, .error],
        .live: [.disconnecting, .reconnecting, .error], .disconnecting: [.disconnected],
        .disconnected: [.connecting], .reconnecting: [.live, .disconnected, .error, .connecting],
        .error: [.connecting],
    ]

    @Test(arguments: 1...200)
    func randomSequencesKeepAllInvariants(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var script = StreamSessionScript(
            limit: seed % 2 == 0 ? .endless : .attempts(3), jitter: 0.25, seed: UInt64(seed),
            statusInterval: .seconds(3))
        var life = Life()
        for _ in 0..<300 {
            life.heard(script.wait(.milliseconds(Int64.random(in: 0...900, using: &generator))), script)
            let step = randomStep(among: script.connections.count, &generator)
            life.reported(step)
            life.heard(script.play(step), script)
        }
        life.reported(.stop)
        life.heard(script.play(.stop), script)
        life.heard(script.wait(.seconds(1)), script)
        #expect(life.unansweredStop == false)
        #expect(life.unansweredStart == false)
        #expect(life.open.isEmpty && life.parked.isEmpty)
        #expect(script.timer == nil)
        #expect([.unknown, .disconnected, .error].contains(script.session.state))
    }

    /// Mostly about one of the two newest connections, and mostly a step forward.
    private func randomStep(
        among count: Int, _ generator: inout SeededGenerator
    ) -> StreamSessionScript.Step {
        let index = count == 0 ? 0 : Int.random(in: max(1, count - 1)...count, using: &generator)
        let events = Self.events(newest: index)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0 where index > 0: return .failed(index, wrongPassword)
        case 1...5 where index > 0: return .connected(index)
        case 6...11 where index > 0: return .publishing(index)
        default: return events[Int.random(in: events.indices, using: &generator)].step
        }
    }

    /// Records of one sequence, kept outside the session.
    struct Life {
        var state = StreamState.unknown
        /// Opened, and neither ended by the session nor reported as failed.
        var open: Set<Int> = []
        /// Stalled, and kept to be aborted when the server can be reached.
        var parked: Set<Int> = []
        var farewells: Set<Int> = []
        var unansweredStart = false
        var unansweredStop = false

        mutating func reported(_ step: StreamSessionScript.Step) {
            switch step {
            case .failed(let index, _):
                open.remove(index)
                parked.remove(index)
            case .stalled(let index, _): if open.remove(index) != nil { parked.insert(index) }
            case .closed(let index):
                if farewells.contains(index) { open.remove(index) }
                parked.remove(index)
            case .start, .restart: unansweredStart = true
            case .stop: unansweredStop = true
            default: break
            }
        }

        mutating func heard(_ log: [String], _ script: StreamSessionScript) {
            for line in log {
                // The timer's actions are preceded by their time.
                heard(line.split(separator: " ").drop { $0.contains(".") }.map(String.init))
            }
            #expect(state == script.session.state)
            if ![.unknown, .disconnected, .error].contains(state) { #expect(script.timer != nil) }
        }

        private mutating func heard(_ words: [String]) {
            let number = words.last.flatMap(Int.init) ?? 0
            switch words.first {
            case "open":
                open.insert(number)
                #expect(open.subtracting(farewells).count <= 2)
            case "media": #expect(open.contains(number))
            case "close":
                #expect(open.contains(number))
                farewells.insert(number)
            case "abort":
                #expect(open.remove(number) != nil || parked.remove(number) != nil, "aborts what is not open")
            case "park":
                #expect(open.remove(number) != nil, "parks what is not open")
                parked.insert(number)
            case "started", "start", "already": unansweredStart = false
            case "stopped": unansweredStop = false
            default:
                guard let word = words.first, let next = StreamState(rawValue: word) else { return }
                #expect(allowedNext[state]?.contains(next) == true, "\(state) to \(next)")
                state = next
            }
        }
    }
}
