import Glibc
import LinuxIO
import Settings

/// What network.json says, as far as it is right, and what is wrong in it. A missing file is a fault here: whoever runs
/// the command has named it.
public func readNetworkSettings(_ path: String) -> (NetworkDescription, [DescriptionFault]) {
    DescriptionFiles.readNetwork(path)
}

/// Writes what the start scripts read. The directory must exist.
/// - Returns: whether something else was there: the scripts have not seen these settings.
@discardableResult
public func writeNetworkSettings(_ network: NetworkDescription, to directory: String) throws(SystemCallError) -> Bool {
    let servers = network.timeServers.map { "\($0.name)\n" }.joined()
    let files: [(name: String, text: String, permissions: mode_t)] = [
        ("hostname", "\(network.hostName)\n", 0o644), ("timeservers", servers, 0o644),
        // Empty without a wireless network, so that an earlier one is forgotten.
        ("wpa_supplicant.conf", network.wpaSupplicantConfiguration ?? "", 0o600),
    ]
    var hasChanged = false
    for file in files {
        let (path, contents) = ("\(directory)/\(file.name)", Array(file.text.utf8))
        hasChanged = hasChanged || (try? readFile(path, limit: 1 << 16)) != contents
        try replaceFile(path, with: contents, permissions: file.permissions)
    }
    return hasChanged
}
