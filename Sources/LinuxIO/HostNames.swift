import Glibc

/// The device's names in its network.
public enum HostNames {
    /// Its own name, the same with `.local`, and `localhost`.
    public static var all: Set<String> { ["localhost", own, "\(own).local"] }

    /// That of network.json on a card.
    public static var own: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
    }
}
