/// Of the electricity that lights a room: lamps flicker twice in each period.
public enum MainsFrequency: Int, CaseIterable, Sendable {
    case hertz50 = 50
    case hertz60 = 60

    /// From one flicker to the next.
    public var flickerMicroseconds: Int { 1_000_000 / (2 * rawValue) }

    /// Where it is 60 Hz: the Americas but their south, and a few others (IEC's list of the world's supplies). The rest of
    /// the world has 50.
    private static let countriesOf60: Set<String> = [
        "AG", "AI", "AS", "AW", "BB", "BM", "BQ", "BR", "BS", "BZ", "CA", "CO", "CR", "CU", "DO", "EC", "FM", "GT",
        "GU",
        "GY", "HN", "HT", "KN", "KR", "KY", "LR", "MH", "MP", "MS", "MX", "NI", "PA", "PE", "PH", "PR", "PW", "SA",
        "SR",
        "SV", "SX", "TC", "TT", "TW", "US", "VE", "VG", "VI",
    ]
    /// Japan has both, by region.
    private static let countriesOfBoth: Set<String> = ["JP"]

    /// - Parameter country: two letters (ISO 3166-1).
    /// - Returns: `nil` where the country does not tell.
    public init?(country: String) {
        let code = country.uppercased()
        // "00" and the like are domains for Wi-Fi, no countries.
        guard code.utf8.count == 2, code.utf8.allSatisfy(\.isASCIILetter), !Self.countriesOfBoth.contains(code) else {
            return nil
        }
        self = Self.countriesOf60.contains(code) ? .hertz60 : .hertz50
    }
}
