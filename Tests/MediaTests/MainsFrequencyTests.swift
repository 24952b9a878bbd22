import Media
import Testing

@Suite struct MainsFrequencyTests {
    @Test(
        arguments: [
            ("DE", .hertz50), ("GB", .hertz50), ("AU", .hertz50), ("AR", .hertz50), ("US", .hertz60), ("ca", .hertz60),
            ("KR", .hertz60), ("JP", nil), ("00", nil), ("", nil), ("USA", nil),
        ] as [(String, MainsFrequency?)])
    func countryDeterminesTheFrequency(country: String, frequency: MainsFrequency?) {
        #expect(MainsFrequency(country: country) == frequency)
    }

    @Test func lampsFlickerTwiceInAPeriod() {
        #expect(MainsFrequency.allCases.map(\.flickerMicroseconds) == [10_000, 8_333])
    }
}
