/// The program's version, shown to people and servers.
public let version = "0.1.0"
