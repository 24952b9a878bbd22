extension Duration {
    /// How long a test waits in real time for what must happen: beside programs that compute, a thread of low priority may stand
    /// still for minutes.
    public static let patience = Duration.seconds(600)
}
