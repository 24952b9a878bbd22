import LinuxIO
import Settings

/// What network.json says, as far as it is right, and what is wrong in it. A missing file is a fault here: whoever runs
/// the command has named it.
public func readNetworkSettings(_ path: String) -> (NetworkDescription, [DescriptionFault]) {
    DescriptionFiles.readNetwork(path)
}

/// Writes what the start scripts read. The directory must exist.
public func writeNetworkSettings(_ network: NetworkDescription, to directory: String) throws(SystemCallError) {
    try replaceFile("\(directory)/hostname", with: Array("\(network.hostName)\n".utf8))
    let servers = network.timeServers.map { "\($0.name)\n" }.joined()
    try replaceFile("\(directory)/timeservers", with: Array(servers.utf8))
    // Empty without a wireless network, so that an earlier one is forgotten.
    let wifi = network.wpaSupplicantConfiguration ?? ""
    try replaceFile("\(directory)/wpa_supplicant.conf", with: Array(wifi.utf8), permissions: 0o600)
}
