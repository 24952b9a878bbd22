/// A camera or microphone of this machine.
public struct ListedDevice: Hashable, Sendable {
    /// As `device.json` names it.
    public let name: String
    /// What it is, for people; empty if that is unknown.
    public let label: String
    /// Other names that `device.json` may use for it.
    public let aliases: [String]
    public let isInUse: Bool

    public init(_ name: String, label: String, aliases: [String] = [], isInUse: Bool = false) {
        self.name = name
        self.label = label
        self.aliases = aliases
        self.isInUse = isInUse
    }

    public var text: String {
        ([name] + (label.isEmpty ? [] : [label])).joined(separator: "  ") + (isInUse ? "  (in use)" : "")
    }

    /// The same within a sentence.
    public var phrase: String { label.isEmpty ? name : "\(name) (\(label))" }

    /// Whether `device.json` means this device by a name.
    public func isCalled(_ name: String) -> Bool { name == self.name || aliases.contains(name) }
}

/// The cameras or the microphones of this machine.
public struct DeviceList: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        case cameras, microphones
    }

    public var devices: [ListedDevice]
    /// Why the list is empty, or may be incomplete.
    public var notes: [String]

    public init(_ devices: [ListedDevice] = [], notes: [String] = []) {
        self.devices = devices
        self.notes = notes
    }

    public func device(called name: String) -> ListedDevice? { devices.first { $0.isCalled(name) } }
}

/// The ways to write an ALSA device: `hw:1`, `hw:CARD=seeed,DEV=0` and `plughw:seeed,0` may name the same one.
public enum MicrophoneName {
    /// - Returns: `hw:CARD,DEVICE`, device 0 if none is given; `nil` for a name that is not one of a card's devices.
    public static func normalized(_ name: String) -> String? {
        let scheme = name.prefix { $0 != ":" }
        guard scheme == "hw" || scheme == "plughw", scheme.count < name.count else { return nil }
        var parts = name.dropFirst(scheme.count + 1).split(separator: ",", omittingEmptySubsequences: false).map {
            String($0)
        }
        guard let first = parts.first, !first.isEmpty, parts.count <= 2 else { return nil }
        parts[0] = without("CARD=", first)
        return "hw:\(parts[0]),\(parts.count == 2 ? without("DEV=", parts[1]) : "0")"
    }

    private static func without(_ prefix: String, _ text: String) -> String {
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }
}
