import Media
import StreamLogic
import Testing

@Suite("Stream events")
struct StreamEventTests {
    @Test func theCodesAreThoseOfTheSystemsReplaced() {
        let expected =
            [1001, 1002, 1101, 1102, 1103, 1104, 3001, 3002, 3003, 3004] + (0...15).map { -1000 - $0 }
            + [-1200, -1201] + (0...7).map { -1300 - $0 } + [-1400, -1500, -1501]
        let ours = EventCode.allCases.map(\.rawValue).filter { !(2000..<3000).contains($0) }
        #expect(Set(ours) == Set(expected))
    }

    @Test func everyCodeHasANameAndAMeaning() {
        #expect(Set(EventCode.allCases.map(\.name)).count == EventCode.allCases.count)
        #expect(EventCode.allCases.allSatisfy { !$0.meaning.isEmpty })
        #expect(EventCode.allCases.allSatisfy { $0.name == "\($0)" })
        #expect(EventCode.allCases.filter(\.isUnused).map(\.rawValue) == [-1002, -1009, -1010])
    }

    @Test func eventsCarryTheirFields() {
        func text(_ event: StreamEvent) -> String {
            let fields = event.fields.map { field in
                switch field.value {
                case .text(let text): " \(field.name)=\(text)"
                case .integer(let number): " \(field.name)=\(number)"
                case .number(let number): " \(field.name)=\(number)"
                }
            }
            return "\(event.code.rawValue) \(event.name)" + fields.joined()
        }
        #expect(text(.connected(server: "host:1935")) == "1001 connected server=host:1935")
        #expect(text(.publishing) == "1002 publishing")
        #expect(
            text(.reconnecting(attempt: 2, limit: 3, delay: .milliseconds(1500)))
                == "1102 reconnecting attempt=2 limit=3 delay=1.5")
        #expect(
            text(.reconnecting(attempt: 2, limit: nil, delay: .zero)) == "1102 reconnecting attempt=2 delay=0.0")
        #expect(text(.retry(notFound, .lookup)) == "3001 retryAfterLookup cause=-1000 reason=not found")
        #expect(text(.failed(.recoveriesFailed, reason: "gone")) == "-1307 recoveriesFailed reason=gone")
        #expect(text(.stateChanged(.connected)) == "2001 stateChanged state=connected")
        let status = StreamStatus(
            videoFramesPerSecond: 29.5, audioFramesPerSecond: 43, bitrate: Bitrate(bitsPerSecond: 512_000))
        #expect(
            text(.status(status))
                == "2002 status videoFramesPerSecond=29.5 audioFramesPerSecond=43.0 bitsPerSecond=512000")
    }
}
