import Media
import StreamLogic

/// Decides when a torch that follows the light is lit. The torch itself brightens the scene, so it goes dark only when
/// the scene has become much brighter than with the torch alone.
public struct TorchPolicy: Hashable, Sendable {
    /// Below `dark` the torch is lit; it stays lit at least up to `bright`.
    private static let limitsOfLux = (dark: 10.0, bright: 40.0)
    private static let limitsOfLuma = (dark: 40.0, bright: 110.0)
    /// Required brightness relative to the torch alone.
    private static let factor = 2.0
    /// Ignores short changes, such as a hand in front of the lens or headlights.
    private static let patience: Duration = .seconds(1)
    /// Time for the exposure to adapt to the torch.
    private static let settlingTime: Duration = .seconds(2)

    public private(set) var isLit = false
    private var litAt: MediaTimestamp?
    /// Brightness after the torch had been lit for a moment.
    private var byTorch: Double?
    /// Since when the opposite state has been due.
    private var doubtedSince: MediaTimestamp?

    public init() {}

    /// Whether a snapshot needs more light.
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

    /// - Returns: whether the torch must be lit from now on.
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
