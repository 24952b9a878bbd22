extension Unicode.Scalar {
    /// C0, DEL and C1: what a terminal acts on instead of showing it.
    public var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}
