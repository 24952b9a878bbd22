"""TLS servers of four kinds, with one port for each key and TLS version."""

import itertools
import subprocess
from pathlib import Path

from certificates import Certificates
from processes import Children
from servers import free_port, wait_for_listener

VERSIONS = {"1.2": ["TLSv1.2"], "1.3": ["TLSv1.3"], "both": ["TLSv1.2", "TLSv1.3"]}

NGINX = """load_module /usr/lib/nginx/modules/ngx_stream_module.so; daemon off; master_process off; user root;
pid {directory}/{name}.pid; error_log {directory}/{name}.log info;
events {{ worker_connections 256; }}
stream {{ ssl_prefer_server_ciphers {preference};
{servers}
}}
"""
NGINX_SERVER = """  server {{
    listen 127.0.0.1:{port} ssl; ssl_certificate {key}.pem; ssl_certificate_key {key}.key; ssl_protocols {versions};
    proxy_pass 127.0.0.1:{target};
  }}"""
STUNNEL = "foreground = yes\npid =\n"
STUNNEL_SERVICE = """[{key}-{version}]
accept = 127.0.0.1:{port}
connect = 127.0.0.1:{target}
cert = {directory}/{key}.pem
key = {directory}/{key}.key
sslVersionMin = {first}
sslVersionMax = {last}
"""
GNUTLS_VERSIONS = {"1.2": "+VERS-TLS1.2", "1.3": "+VERS-TLS1.3", "both": "+VERS-TLS1.2:+VERS-TLS1.3"}
OPENSSL_VERSIONS = {"1.2": ["-tls1_2"], "1.3": ["-tls1_3"], "both": []}


def free_ports(keys, versions) -> dict[tuple, int]:
    return {cell: free_port() for cell in itertools.product(keys, versions)}


class Nginx:
    """Its stream module, in front of an RTMP server."""

    speaks_rtmp = True
    preference = "off"

    def __init__(self, children: Children, certificates: Certificates, keys, target: int):
        self.ports = free_ports(keys, VERSIONS)
        name = type(self).__name__.lower()
        servers = "\n".join(
            NGINX_SERVER.format(
                port=port, key=certificates.path(key), versions=" ".join(VERSIONS[version]), target=target
            )
            for (key, version), port in self.ports.items()
        )
        configuration = children.directory / f"{name}.conf"
        configuration.write_text(
            NGINX.format(directory=children.directory, name=name, servers=servers, preference=self.preference)
        )
        process = children.start(name, ["nginx", "-p", children.directory, "-c", configuration])
        for port in self.ports.values():
            wait_for_listener(process, port)


class PreferringNginx(Nginx):
    """Follows its own preference instead of the client's, as many guides recommend."""

    preference = "on"


class Stunnel:
    speaks_rtmp = True

    def __init__(self, children: Children, certificates: Certificates, keys, target: int):
        self.ports = free_ports(keys, VERSIONS)
        services = "".join(
            STUNNEL_SERVICE.format(
                key=key, version=version, port=port, target=target, directory=certificates.directory,
                first=VERSIONS[version][0], last=VERSIONS[version][-1],
            )
            for (key, version), port in self.ports.items()
        )  # fmt: skip
        configuration = children.directory / "stunnel.conf"
        configuration.write_text(STUNNEL + services)
        process = children.start("stunnel", ["stunnel4", configuration])
        for port in self.ports.values():
            wait_for_listener(process, port)


class SeparateServers:
    """One process per port, with nothing behind it."""

    speaks_rtmp = False

    def __init__(self, children: Children, certificates: Certificates, keys, target: int):
        self.ports = free_ports(keys, VERSIONS)
        processes = {}
        for (key, version), port in self.ports.items():
            words = self.words(certificates.path(key), version, port)
            # s_server ends a connection when its own input ends.
            processes[port] = children.start(type(self).__name__.lower(), words, stdin=subprocess.PIPE)
        for port, process in processes.items():
            wait_for_listener(process, port)


class OpenSSL(SeparateServers):
    def words(self, key: Path, version: str, port: int) -> list:
        return [
            "openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", f"{key}.pem", "-key", f"{key}.key",
            *OPENSSL_VERSIONS[version],
        ]  # fmt: skip


class PreferringOpenSSL(OpenSSL):
    """See `PreferringNginx`."""

    def words(self, key: Path, version: str, port: int) -> list:
        return [*super().words(key, version, port), "-serverpref"]


class GnuTLS(SeparateServers):
    def words(self, key: Path, version: str, port: int) -> list:
        priorities = f"NORMAL:-VERS-ALL:{GNUTLS_VERSIONS[version]}"
        return [
            "gnutls-serv", "--echo", "--disable-client-cert", "--port", port, "--priority", priorities,
            "--x509certfile", f"{key}.pem", "--x509keyfile", f"{key}.key",
        ]  # fmt: skip


KINDS = [Nginx, PreferringNginx, Stunnel, OpenSSL, PreferringOpenSSL, GnuTLS]
