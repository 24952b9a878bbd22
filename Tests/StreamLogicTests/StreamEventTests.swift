import StreamLogic
import Testing

@Suite("Stream events")
struct StreamEventTests {
    @Test func codesMatchTheReplacedSystems() {
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
}
