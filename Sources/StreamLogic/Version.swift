/// The program's, as it names itself to people and servers.
public let version = "0.1.0"
