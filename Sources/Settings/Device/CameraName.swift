/// The rules for names of cameras.
public enum CameraName {
    /// The most cameras of a stream.
    public static let mostCameras = 8

    /// - Returns: what is wrong with the name; `nil` if it is valid.
    public static func problem(with name: String) -> String? {
        guard name != "next" else { return "\"next\" is the command that switches to the next camera" }
        let letters = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-")
        }
        guard letters, (1...16).contains(name.utf8.count) else {
            return "a camera's name must have 1 to 16 lower-case letters, digits and hyphens"
        }
        return nil
    }
}
