import Settings

/// A fault that one of the files on the boot partition has, or that it can mend.
public struct FileFault: Hashable, Sendable {
    /// What the light counts out for it.
    public let kind: ApplianceFault
    public let file: String
    public let fault: DescriptionFault

    public init(kind: ApplianceFault, file: String, fault: DescriptionFault) {
        self.kind = kind
        self.file = file
        self.fault = fault
    }
}
