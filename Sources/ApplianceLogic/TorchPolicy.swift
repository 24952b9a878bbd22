import Media
import StreamLogic

/// Decides when a torch that follows the light is lit. The torch itself brightens what the camera sees: it goes dark when
/// it has become much brighter than it was by the torch alone.
public struct TorchPolicy: Hashable, Sendable {
    /// Below `dark` it is lit. It stays so up to `bright`, at the least.
    private static let limitsOfLux = (dark: 10.0, bright: 40.0)
    private static let limitsOfLuma = (dark: 40.0, bright: 110.0)
    /// Brighter than by the torch alone.
    private static let factor = 2.0
    /// A hand before the lens, or headlights, are nothing to follow.
    private static let patience: Duration = .seconds(1)
    /// Until exposure has followed the torch.
    private static let settlingTime: Duration = .seconds(2)

    public private(set) var isLit = false
    private var litAt: MediaTimestamp?
    /// What the camera saw when the torch had been lit for a moment.
    private var byTorch: Double?
    /// Since when it should be the other way round.
    private var doubtedSince: MediaTimestamp?

    public init() {}

    /// Whether a snapshot wants more light than there is.
    public static func isDark(_ brightness: Brightness) -> Bool {
        let (level, limits) = Self.level(of: brightness)
        return level < limits.dark
    }

    private static func level(of brightness: Brightness) -> (Double, (dark: Double, bright: Double)) {
        switch brightness {
        case .lux(let lux): (lux, limitsOfLux)
        case .luma(let luma): (luma, limitsOfLuma)
        }
    }

    /// - Returns: whether the torch is to be lit from now on.
    @discardableResult
    public mutating func measured(_ brightness: Brightness, now: MediaTimestamp) -> Bool {
        let (level, limits) = Self.level(of: brightness)
        guard level.isFinite, isChangeDue(level, limits, now: now) else {
            doubtedSince = nil
            return isLit
        }
        let since = doubtedSince ?? now
        doubtedSince = since
        guard now - since >= Self.patience else { return isLit }
        isLit.toggle()
        litAt = isLit ? now : nil
        byTorch = nil
        doubtedSince = nil
        return isLit
    }

    private mutating func isChangeDue(
        _ level: Double, _ limits: (dark: Double, bright: Double), now: MediaTimestamp
    ) -> Bool {
        guard isLit else { return level < limits.dark }
        guard let litAt, now - litAt >= Self.settlingTime else { return false }
        let reference = byTorch ?? level
        byTorch = min(reference, level)
        return level > max(limits.bright, reference * Self.factor)
    }
}
