/// One input to start with.
struct Seed {
    /// The file's.
    let name: String
    let bytes: [UInt8]
}
