/// One initial input.
struct Seed {
    /// The file's name.
    let name: String
    let bytes: [UInt8]
}
