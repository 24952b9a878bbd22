import StreamLogic
import Testing

@Suite("Stream events")
struct StreamEventTests {
    @Test func codesMatchTheReplacedSystems() {
        var expected: Set<Int> = [1001, 1002, 1101, 1102, 1103, 1104, 3001, 3002, 3003, 3004]
        expected.formUnion(-1015 ... -1000)
        expected.formUnion([-1200, -1201, -1400, -1500, -1501])
        expected.formUnion(-1307 ... -1300)
        let ours = EventCode.allCases.map(\.rawValue).filter { !(2000..<3000).contains($0) }
        #expect(Set(ours) == expected)
    }

    @Test func everyCodeHasANameAndAMeaning() {
        #expect(Set(EventCode.allCases.map(\.name)).count == EventCode.allCases.count)
        #expect(EventCode.allCases.allSatisfy { !$0.meaning.isEmpty })
        #expect(EventCode.allCases.allSatisfy { $0.name == "\($0)" })
        #expect(EventCode.allCases.filter(\.isUnused).map(\.rawValue) == [-1002, -1009, -1010])
    }
}
