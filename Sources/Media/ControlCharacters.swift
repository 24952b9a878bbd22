extension Unicode.Scalar {
    /// C0, DEL and C1: characters that a terminal acts on instead of showing them.
    public var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}
