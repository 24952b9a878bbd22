/// The mains frequency: lamps flicker twice in each period.
public enum MainsFrequency: Int, CaseIterable, Sendable {
    case hertz50 = 50
    case hertz60 = 60

    /// The time from one flicker to the next.
    public var flickerMicroseconds: Int { 1_000_000 / (2 * rawValue) }

    /// Countries with 60 Hz: the Americas except their south, and a few others (IEC's list of the world's supplies).
    /// The rest of the world has 50 Hz.
    private static let countriesOf60: Set<String> = [
        "AG", "AI", "AS", "AW", "BB", "BM", "BQ", "BR", "BS", "BZ", "CA", "CO", "CR", "CU", "DO", "EC", "FM", "GT",
        "GU",
        "GY", "HN", "HT", "KN", "KR", "KY", "LR", "MH", "MP", "MS", "MX", "NI", "PA", "PE", "PH", "PR", "PW", "SA",
        "SR",
        "SV", "SX", "TC", "TT", "TW", "US", "VE", "VG", "VI",
    ]
    /// Japan has both, depending on the region.
    private static let countriesOfBoth: Set<String> = ["JP"]

    /// - Parameter country: two letters (ISO 3166-1).
    /// - Returns: `nil` if the country does not determine the frequency.
    public init?(country: String) {
        let code = country.uppercased()
        // "00" and similar codes are Wi-Fi regulatory domains rather than countries.
        guard code.utf8.count == 2, code.utf8.allSatisfy(\.isASCIILetter), !Self.countriesOfBoth.contains(code) else {
            return nil
        }
        self = Self.countriesOf60.contains(code) ? .hertz60 : .hertz50
    }
}
