import Glibc
import LinuxIO
import Settings

/// The valid part of network.json and its faults. A missing file is a fault here, because the caller has named it.
public func readNetworkSettings(_ path: String) -> (NetworkDescription, [DescriptionFault]) {
    DescriptionFiles.readNetwork(path)
}

/// Writes the files for the start scripts. The directory must exist.
/// - Returns: whether anything changed, so that the scripts have not seen these settings.
@discardableResult
public func writeNetworkSettings(_ network: NetworkDescription, to directory: String) throws(SystemCallError) -> Bool {
    let servers = network.timeServers.map { "\($0.name)\n" }.joined()
    let files: [(name: String, text: String, permissions: mode_t)] = [
        ("hostname", "\(network.hostName)\n", 0o644), ("timeservers", servers, 0o644),
        // Empty without a wireless network, to forget an earlier one.
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
