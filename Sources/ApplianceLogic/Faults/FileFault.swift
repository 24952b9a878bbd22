import Settings

/// A fault in a file on the boot partition, or one that such a file can repair.
public struct FileFault: Hashable, Sendable {
    /// The fault that the light shows.
    public let kind: ApplianceFault
    public let file: String
    public let fault: DescriptionFault

    public init(kind: ApplianceFault, file: String, fault: DescriptionFault) {
        self.kind = kind
        self.file = file
        self.fault = fault
    }
}
