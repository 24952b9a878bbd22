import ApplianceLogic
import Settings

extension FileFault {
    /// A sample of a fault that a file of this kind may have.
    static func ofKind(
        _ kind: ApplianceFault, _ problem: String = "is wrong", isWarning: Bool = false
    ) -> FileFault {
        let file =
            switch kind {
            case .streamFile: "stream.json"
            case .board: "board.json"
            default: "device.json"
            }
        return FileFault(
            kind: kind, file: file,
            fault: DescriptionFault(
                kind: isWarning ? .suspicious : .invalidValue, keyPath: "key", position: .start, problem: problem,
                example: nil))
    }
}
