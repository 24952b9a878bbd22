import Glibc

/// Writes the seeds that this project's own sessions and encoders produce to the given directory: `rtmp/`, `amf0/`, `flv/`
/// and `recording/`.
/// The other seeds are files of real encoders and services.
guard CommandLine.arguments.count == 2 else {
    print("Usage: write-seeds DIRECTORY")
    exit(2)
}
let directory = CommandLine.arguments[1]
mkdir(directory, 0o777)
for (target, seeds) in [
    ("rtmp", RTMPSeeds.all), ("amf0", AMF0Seeds.all), ("flv", FLVSeeds.all), ("recording", RecordingSeeds.all),
] {
    mkdir("\(directory)/\(target)", 0o777)
    for seed in seeds {
        let path = "\(directory)/\(target)/\(seed.name)"
        guard let file = fopen(path, "wb") else {
            perror(path)
            exit(1)
        }
        fwrite(seed.bytes, 1, seed.bytes.count, file)
        fclose(file)
    }
}
